// a figure in the colours of a dark page
const shade = (() => {
  const dark = matchMedia("(prefers-color-scheme: dark)"), INK = "#1f2933", CONTRAST = 3;  // ink as in modinterp.figures.theme
  const at = (thing, path) => path.split(".").reduce((part, key) => part?.[key], thing);
  const pen = document.createElement("canvas").getContext("2d");
  const channels = colour => { pen.fillStyle = colour; const hex = pen.fillStyle; return hex[0] === "#" ? [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)) : null; };
  const luminance = rgb => rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (one, other) => { const [low, high] = [luminance(one), luminance(other)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };
  // a colour that is seen on the dark page: mixed with its ink until they are in contrast, or as it is
  const lit = (colour, paper, ink) => {
    const rgb = channels(colour);
    if (!rgb || contrast(rgb, paper) >= CONTRAST) return colour;
    for (let share = 0.1; ; share += 0.1) {
      const mixed = rgb.map((c, i) => Math.round(c + share * (ink[i] - c)));
      if (share >= 1 || contrast(mixed, paper) >= CONTRAST) return `rgb(${mixed})`;
    }
  };
  // by path, the traces whose colour is a name: found once, since from then on they follow the page
  const named = plot => plot.named ??= ["line.color", "marker.color", "marker.line.color", "textfont.color"].map(path => ({
    path, traces: plot.data.map((trace, number) => ({ number, value: at(trace, path) })).filter(({ value }) => [value].flat().some(each => typeof each === "string")),
  }));
  const recolour = plot => {
    const style = getComputedStyle(document.documentElement), colour = name => style.getPropertyValue(name).trim(), ink = colour("--ink");
    const change = { paper_bgcolor: colour("--paper"), plot_bgcolor: colour("--paper"), "font.color": ink };
    for (const axis of Object.keys(plot._fullLayout).filter(key => /^[xy]axis\d*$/.test(key)))
      for (const part of ["gridcolor", "zerolinecolor", "linecolor"]) change[`${axis}.${part}`] = colour("--line");
    for (const scene of Object.keys(plot._fullLayout).filter(key => /^scene\d*$/.test(key)))
      for (const axis of ["xaxis", "yaxis", "zaxis"]) {
        for (const part of ["gridcolor", "zerolinecolor"]) change[`${scene}.${axis}.${part}`] = colour("--line");
        change[`${scene}.${axis}.backgroundcolor`] = colour("--paper");
      }
    (plot.layout.shapes ?? []).forEach((shape, number) => {
      if (plot.inkedShapes?.has(number) ?? [INK, undefined].includes(shape.line?.color)) change[`shapes[${number}].line.color`] = ink;
    });
    plot.inkedShapes ??= new Set(Object.keys(change).flatMap(key => /^shapes\[(\d+)/.exec(key)?.slice(1).map(Number) ?? []));
    (plot.layout.annotations ?? []).forEach((note, number) => {
      if (note.showarrow !== false) change[`annotations[${number}].arrowcolor`] = ink;
    });
    const shown = each => each === INK ? ink : dark.matches && typeof each === "string" ? lit(each, channels(colour("--paper")), channels(ink)) : each;
    for (const { path, traces } of named(plot))
      if (traces.length) Plotly.restyle(plot, { [path]: traces.map(({ value }) => Array.isArray(value) ? value.map(shown) : shown(value)) }, traces.map(({ number }) => number));
    Plotly.relayout(plot, change);
  };
  dark.addEventListener("change", () => document.querySelectorAll(".js-plotly-plot").forEach(recolour));
  return plot => { if (dark.matches) recolour(plot); };
})();
