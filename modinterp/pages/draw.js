// figures: unpacked with plotly when the first comes near the window, each drawn when it does
const drawing = (() => {
  const unpacked = async script => {
    const bytes = Uint8Array.fromBase64?.(script.textContent) ?? Uint8Array.from(atob(script.textContent), letter => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  let library;
  const plotly = () => library ??= unpacked(document.getElementById("plotly")).then(code => {
    const script = document.createElement("script");
    script.text = code;
    document.head.append(script);
  });
  const config = { displaylogo: false, responsive: true, showSendToCloud: false };
  const packs = new Map([...document.querySelectorAll("script[data-plot]")].map(pack => [pack.dataset.plot, pack]));
  const contents = new Map(), drawn = new Map();  // by id of the figure
  const content = id => contents.get(id) ?? contents.set(id, unpacked(packs.get(id)).then(JSON.parse).then(figure => document.getElementById(id).content = figure)).get(id);
  // a diagram, whose words do not wrap, is drawn as wide as it needs, and made smaller as a whole
  const boxed = plot => {
    const width = plot.parentElement.clientWidth, least = Number(plot.dataset.least ?? 0);
    plot.style.width = width && width < least ? `${least}px` : "";
    plot.style.zoom = width && width < least ? width / least : "";
    return Math.max(width, least) || 1080;
  };
  const put = plot => {  // at once, of what is unpacked
    const { frames, ...figure } = plot.content;
    plot.textContent = "";
    const { columns, data, layout } = fit.fitting(figure, boxed(plot), Number(plot.dataset.panel));
    plot.columns = columns;
    plot.style.height = `${layout.height}px`;
    const done = Plotly.newPlot(plot, data, layout, config).then(() => frames?.length && Plotly.addFrames(plot, frames));
    shade(plot);
    performance.mark(plot.id);
    return done;
  };
  // in a box of another width, the panels are arranged anew where another number of them fits beside one another
  const again = plot => {
    const { frames, ...figure } = plot.content ?? {};
    if (!frames && !figure.data || !plot.clientWidth) return;
    const { columns, data, layout } = fit.fitting(figure, boxed(plot), Number(plot.dataset.panel));
    if (columns === plot.columns && columns === Infinity) return;
    plot.columns = columns;
    plot.style.height = `${layout.height}px`;
    delete plot.named;
    Plotly.react(plot, data, layout, config).then(() => shade(plot));
  };
  let resized;
  addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(() => document.querySelectorAll(".plot.js-plotly-plot").forEach(again), 150); });
  // a figure of the page, drawn now if it is not yet
  const draw = id => drawn.get(id) ?? drawn.set(id, Promise.all([content(id), plotly()]).then(() => put(document.getElementById(id))).then(() => document.getElementById(id))).get(id);

  const near = new IntersectionObserver(entries => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) { near.unobserve(target); target.whenSeen(); }
  }, { rootMargin: "300px 0px" });
  const whenSeen = (box, then) => { box.whenSeen = then; near.observe(box); };
  for (const id of packs.keys()) whenSeen(document.getElementById(id), () => draw(id));
  // what is unfolded is unpacked beforehand, since printing does not wait
  const unfolded = (within = document) => [...packs.keys()].filter(id => { const plot = document.getElementById(id); return within.contains(plot) && plot.checkVisibility(); });
  document.addEventListener("toggle", event => unfolded(event.target).forEach(content), true);
  addEventListener("load", () => (window.requestIdleCallback ?? setTimeout)(() => unfolded().forEach(content)));
  addEventListener("beforeprint", () => {
    if (!window.Plotly) return;
    for (const id of unfolded()) {
      const plot = document.getElementById(id);
      if (plot.content && !drawn.has(id)) drawn.set(id, put(plot).then(() => plot));
    }
  });

  // a slider and a button for each figure that moves
  const at_once = { mode: "immediate", frame: { duration: 0, redraw: true }, transition: { duration: 0 } };
  for (const player of document.querySelectorAll(".player")) {
    const [button, slider, told] = ["button", "input", "output"].map(part => player.querySelector(part));
    const steps = player.dataset.steps.split(" ");
    let wanted = 0, busy = false, timer;
    const show = async step => {
      slider.value = wanted = step;
      told.value = steps[step];
      if (busy) return;  // the last step that was asked for is shown, and those before it where there is time
      busy = true;
      await draw(player.dataset.plot);
      for (let shown = -1; shown !== wanted;) await Plotly.animate(player.dataset.plot, [steps[shown = wanted]], at_once);
      busy = false;
    };
    const stop = () => { clearInterval(timer); timer = undefined; button.textContent = "play"; };
    slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
    button.addEventListener("click", () => {
      if (timer) return stop();
      button.textContent = "pause";
      if (wanted === steps.length - 1) wanted = -1;
      timer = setInterval(() => { if (busy) return; wanted + 1 < steps.length ? show(wanted + 1) : stop(); }, Math.max(90, Math.min(900, 12000 / steps.length)));
    });
  }
  return { draw, plotly, whenSeen, boxed };
})();
