{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const recolour = () => {
    const style = getComputedStyle(document.documentElement), colour = name => style.getPropertyValue(name).trim();
    for (const plot of document.querySelectorAll(".js-plotly-plot")) {
      const change = { paper_bgcolor: colour("--paper"), plot_bgcolor: colour("--paper"), "font.color": colour("--ink"), "title.font.color": colour("--ink") };
      for (const axis of Object.keys(plot._fullLayout).filter(key => /^[xy]axis\d*$/.test(key)))
        for (const part of ["gridcolor", "zerolinecolor", "linecolor"]) change[`${axis}.${part}`] = colour("--line");
      Plotly.relayout(plot, change);
    }
  };
  if (dark.matches) addEventListener("load", recolour);
  dark.addEventListener("change", recolour);
}
