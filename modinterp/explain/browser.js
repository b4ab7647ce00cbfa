// one part of a network at a time: its map over all pairs, its spectrum, what it reads and writes, the loss without it
(async () => {
  const unpacked = async text => new Uint8Array(await new Response(new Blob([Uint8Array.from(atob(text), letter => letter.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  const { p, levels, loss, kinds } = JSON.parse(new TextDecoder().decode(await unpacked(document.getElementById("parts").textContent)));
  const get = id => document.getElementById(id), number = x => Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 || x === 0 ? String(Number(x.toPrecision(4))) : x.toExponential(2);
  const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
  const RED_BLUE = [[33, 102, 172], [103, 169, 207], [209, 229, 240], [247, 247, 247], [253, 219, 199], [239, 138, 98], [178, 24, 43]];
  const mixed = (scale, share) => {
    const at = Math.max(0, Math.min(1, share)) * (scale.length - 1), low = Math.min(Math.floor(at), scale.length - 2);
    return scale[low].map((c, i) => c + (at - low) * (scale[low + 1][i] - c));
  };
  const state = { kind: Object.keys(kinds)[0], at: 0 };  // `at` is the place of the part in the list of its kind
  const part = () => kinds[state.kind][state.at];
  const ordered = () => {
    const all = kinds[state.kind].map((_, i) => i);
    return get("order").value === "number" ? all : all.sort((one, other) => (kinds[state.kind][other].change ?? 0) - (kinds[state.kind][one].change ?? 0));
  };
  let values = null, shown = 0;

  const drawMap = async own => {
    const canvas = get("map"), turn = ++shown, pen = canvas.getContext("2d");
    canvas.width = canvas.height = p;
    values = null;
    if (!own.map) return;
    const bytes = await unpacked(own.map);
    if (turn !== shown) return;  // another part was picked meanwhile
    const image = pen.createImageData(p, p), signed = own.low < 0, reach = Math.max(-own.low, own.high, 1e-300);
    values = Float64Array.from(bytes, byte => own.low + byte / (levels - 1) * (own.high - own.low));
    for (let a = 0; a < p; a++) for (let b = 0; b < p; b++) {
      const value = values[a * p + b], colour = signed ? mixed(RED_BLUE, 0.5 + value / reach / 2) : mixed(VIRIDIS, (value - own.low) / (own.high - own.low || 1));
      image.data.set([...colour, 255], 4 * ((p - 1 - a) * p + b));
    }
    pen.putImageData(image, 0, 0);
    document.body.dataset.shown = `${state.kind} ${own.name}`;
  };
  const W = 460, H = 190, LEFT = 56, BELOW = 30;
  const framed = (inside, low, high, first, last, name, height = H) => `<svg viewBox="0 0 ${W} ${height}" role="img" aria-label="${name}"><text x="${LEFT - 6}" y="14" text-anchor="end">${number(high)}</text>`
    + `<text x="${LEFT - 6}" y="${height - BELOW}" text-anchor="end">${number(low)}</text><text x="${LEFT}" y="${height - 12}">${first}</text><text x="${W - 8}" y="${height - 12}" text-anchor="end">${last}</text>`
    + `<text x="${(W + LEFT) / 2}" y="${height - 12}" text-anchor="middle">${name}</text>${inside}</svg>`;
  const bars = (list, first, name, marked) => {
    const low = Math.min(0, ...list), high = Math.max(0, ...list) || 1, wide = (W - LEFT - 8) / list.length, y = value => 8 + (high - value) / (high - low) * (H - BELOW - 12);
    const drawn = list.map((value, i) => `<rect class="${i + first === marked ? "mark" : "bars"}" x="${(LEFT + i * wide).toFixed(1)}" y="${Math.min(y(value), y(0)).toFixed(1)}" width="${Math.max(wide - 0.6, 0.6).toFixed(1)}" height="${Math.abs(y(value) - y(0)).toFixed(1)}"><title>${i + first}: ${number(value)}</title></rect>`);
    return framed(drawn.join(""), low, high, first, list.length - 1 + first, name);
  };
  const points = (list, name, k) => {
    const reach = Math.max(...list.flat().map(Math.abs)) * 1.06 || 1, S = 300, middle = LEFT + (W - LEFT) / 2, place = (value, flip) => (flip ? S / 2 - value / reach * (S / 2 - 12) : middle + value / reach * (S / 2 - 12)).toFixed(1);
    const drawn = list.map(([x, y], i) => `<circle cx="${place(x)}" cy="${place(y, true)}" r="4" fill="hsl(${(360 * (k * i % list.length) / list.length).toFixed(0)} 65% 50%)"><title>${i}: ${number(x)}, ${number(y)}</title></circle>`);
    return framed(drawn.join(""), -reach, reach, "cosine", "", name, S + BELOW);
  };
  const put = (id, [title, list], own, name) => {
    get(`${id}-title`).textContent = title;
    get(id).innerHTML = !list.length ? "<p class='soft'>not known for this network</p>" : own.points ? points(list, name, own.name) : bars(list, 0, name);
  };
  const show = () => {
    const own = part(), what = { neuron: "activation", head: "attention to a", frequency: "cosine of the logits" }[state.kind];
    get("said").innerHTML = `<b>${state.kind} ${own.name}</b>: ${own.text}`;
    get("effect").textContent = own.change === null ? "The loss without this part is not known here." : `Without this part, the loss is ${number(loss + own.change)} nats: ${own.change < 0 ? "" : "+"}${number(own.change)}.`;
    get("map-title").textContent = own.map ? `${what} over all pairs: a from the bottom up, b to the right` : "no map of this part is on the page";
    [get("low").textContent, get("high").textContent, get("at").textContent] = [number(own.low), number(own.high), ""];
    get("map").setAttribute("aria-label", `${what} of ${state.kind} ${own.name} over all pairs, from ${number(own.low)} to ${number(own.high)}`);
    get("spectrum-title").textContent = state.kind === "frequency" ? "share of each frequency in the read-out" : "share of its variance at each frequency";
    const strongest = own.spectrum.indexOf(Math.max(...own.spectrum)) + 1;
    get("spectrum").innerHTML = bars(own.spectrum, 1, "frequency", state.kind === "frequency" ? own.name : strongest);
    put("reads", own.reads, own, own.points ? "" : "number");
    put("writes", own.writes, own, own.points ? "" : state.kind === "head" ? "number" : "answer");
    get("number").value = own.name;
    for (const button of document.querySelectorAll("[data-kind]")) button.setAttribute("aria-pressed", button.dataset.kind === state.kind);
    history.replaceState(null, "", `#${state.kind}-${own.name}`);
    return drawMap(own);
  };
  const pick = (kind, name) => {
    const at = kinds[kind]?.findIndex(each => each.name === name) ?? -1;
    if (at < 0) return show();
    Object.assign(state, { kind, at });
    return show();
  };
  const step = by => {
    const order = ordered(), place = order.indexOf(state.at) + by;
    state.at = order[(place + order.length) % order.length];
    return show();
  };
  for (const button of document.querySelectorAll("[data-kind]")) button.addEventListener("click", () => { Object.assign(state, { kind: button.dataset.kind }); state.at = ordered()[0]; show(); });
  get("before").addEventListener("click", () => step(-1));
  get("after").addEventListener("click", () => step(1));
  get("number").addEventListener("change", ({ target }) => pick(state.kind, Number(target.value)));
  get("order").addEventListener("change", () => { state.at = ordered()[0]; show(); });
  get("map").addEventListener("mousemove", ({ offsetX, offsetY, target }) => {
    if (!values) return;
    const b = Math.min(p - 1, Math.floor(offsetX / target.clientWidth * p)), a = p - 1 - Math.min(p - 1, Math.floor(offsetY / target.clientHeight * p));
    get("at").textContent = `a = ${a}, b = ${b}: ${number(values[a * p + b])}`;
  });
  addEventListener("keydown", event => {
    if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const kind = Object.keys(kinds).find(each => each[0] === event.key);
    if (kind) document.querySelector(`[data-kind=${kind}]`).click();
    else if (event.key === "ArrowRight") step(1);
    else if (event.key === "ArrowLeft") step(-1);
    else return;
    event.preventDefault();
  });
  const linked = () => { const [, kind, name] = /^#(\w+)-(\d+)$/.exec(location.hash) ?? []; return kind ? pick(kind, Number(name)) : show(); };
  addEventListener("hashchange", linked);
  await linked();
})();
