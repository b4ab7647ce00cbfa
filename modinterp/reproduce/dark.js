{
  const dark = matchMedia("(prefers-color-scheme: dark)"), INK = "#1f2933";  // as in modinterp.figures.theme
  const at = (thing, path) => path.split(".").reduce((part, key) => part?.[key], thing);
  // colours of traces that are ink: found once, since from then on they follow the page
  const inked = plot => plot.inked ??= plot.data.flatMap((trace, number) =>
    ["line.color", "marker.color", "marker.line.color", "textfont.color"].map(path => ({ number, path, value: at(trace, path) }))
      .filter(({ value }) => [value].flat().includes(INK)));
  const recolour = () => {
    const style = getComputedStyle(document.documentElement), colour = name => style.getPropertyValue(name).trim(), ink = colour("--ink");
    for (const plot of document.querySelectorAll(".js-plotly-plot")) {
      const change = { paper_bgcolor: colour("--paper"), plot_bgcolor: colour("--paper"), "font.color": ink };
      for (const axis of Object.keys(plot._fullLayout).filter(key => /^[xy]axis\d*$/.test(key)))
        for (const part of ["gridcolor", "zerolinecolor", "linecolor"]) change[`${axis}.${part}`] = colour("--line");
      for (const scene of Object.keys(plot._fullLayout).filter(key => /^scene\d*$/.test(key)))
        for (const axis of ["xaxis", "yaxis", "zaxis"]) for (const part of ["gridcolor", "zerolinecolor"]) change[`${scene}.${axis}.${part}`] = colour("--line");
      (plot.layout.shapes ?? []).forEach((shape, number) => {
        if (plot.inkedShapes?.has(number) ?? [INK, undefined].includes(shape.line?.color)) change[`shapes[${number}].line.color`] = ink;
      });
      plot.inkedShapes ??= new Set(Object.keys(change).flatMap(key => /^shapes\[(\d+)/.exec(key)?.slice(1).map(Number) ?? []));
      (plot.layout.annotations ?? []).forEach((note, number) => {
        if (note.showarrow !== false) change[`annotations[${number}].arrowcolor`] = ink;
      });
      for (const { number, path, value } of inked(plot))
        Plotly.restyle(plot, { [path]: Array.isArray(value) ? [value.map(each => each === INK ? ink : each)] : ink }, [number]);
      Plotly.relayout(plot, change);
    }
  };
  if (dark.matches) addEventListener("load", recolour);
  dark.addEventListener("change", recolour);
}
