// what is wider than its box is arranged anew: panels of a figure below one another, rows of a table as cards
const fit = (() => {
  const BESIDE = 58, BELOW = 76, LETTER = 6.6, OF_AXES = 7.6, LINE = 15, COLUMN = 72;  // [px]: gaps between panels, width of a letter of titles, height of a line, least width of a column of a table
  const layoutKey = axis => axis.replace(/^([xy])(\d*)$/, "$1axis$2");
  const plain = text => text.replaceAll(/<br>/g, " ");
  // text with line breaks, none of whose lines is wider than so many pixels where its words allow that
  const wrapped = (text, pixels, letter = LETTER) => {
    const lines = [""];
    for (const word of plain(text).split(" ")) {
      const longer = `${lines.at(-1)} ${word}`.trim();
      if (longer.replaceAll(/<[^>]*>/g, "").length * letter > pixels && lines.at(-1)) lines.push(word);
      else lines[lines.length - 1] = longer;
    }
    return lines.join("<br>");
  };
  // the panels: where each lies, from 0 to 1, and its axes and scenes
  const cellsOf = ({ data, layout }) => {
    const cells = new Map();
    const put = (x, y, holder) => {
      const key = [...x, ...y].map(each => each.toFixed(5)).join();
      if (!cells.has(key)) cells.set(key, { x, y, holders: new Set() });
      cells.get(key).holders.add(holder);
    };
    const domain = axis => { const own = layout[layoutKey(axis)] ?? {}; return own.domain ?? (own.overlaying ? domain(own.overlaying) : [0, 1]); };
    const pairs = new Set(data.filter(trace => !trace.scene && !trace.type?.endsWith("3d")).map(trace => `${trace.xaxis ?? "x"} ${trace.yaxis ?? "y"}`));
    for (const key of Object.keys(layout)) {
      if (/^xaxis\d*$/.test(key) && (layout[key].anchor ?? "y") !== "free") pairs.add(`${key.replace("axis", "")} ${layout[key].anchor ?? "y"}`);
      if (/^scene\d*$/.test(key)) put(layout[key].domain?.x ?? [0, 1], layout[key].domain?.y ?? [0, 1], key);
    }
    for (const pair of pairs) {
      const [x, y] = pair.split(" ");
      if (!layout[layoutKey(x)] && !layout[layoutKey(y)]) continue;
      put(domain(x), domain(y), pair);
    }
    return [...cells.values()];
  };
  // rows from the top, each from the left; panels of a row that differ in height stand alone
  const rowsOf = (cells, columns) => {
    const rows = [];
    for (const cell of [...cells].sort((one, other) => other.y[1] - one.y[1] || one.x[0] - other.x[0])) {
      const row = rows.at(-1);
      if (row && row.some(each => each.y[0] < cell.y[1] - 1e-6 && cell.y[0] < each.y[1] - 1e-6)) row.push(cell);
      else rows.push([cell]);
    }
    return rows.flatMap(row => {
      row.sort((one, other) => one.x[0] - other.x[0]);
      row.forEach(cell => cell.leftmost = row[0]);
      const even = row.every(cell => Math.abs(cell.y[1] - cell.y[0] - row[0].y[1] + row[0].y[0]) < 1e-3);
      const wide = even ? Math.min(columns, row.length) : 1;
      return Array.from({ length: Math.ceil(row.length / wide) }, (_, i) => row.slice(i * wide, (i + 1) * wide));
    });
  };
  const fullest = cells => Math.max(...rowsOf(cells, Infinity).map(row => row.length), 1);
  const axesOf = (cell, letter) => [...cell.holders].filter(pair => pair.includes(" ")).map(pair => layoutKey(pair.split(" ")[letter === "x" ? 0 : 1]));

  // layout and traces of a figure in so many columns of panels, in a box of so many pixels
  const arranged = (figure, columns, width) => {
    const { data, layout } = structuredClone({ data: figure.data, layout: figure.layout });
    const cells = cellsOf({ data, layout }), { l = 80, r = 80, t = 100, b = 80 } = layout.margin ?? {};
    const old = { width: Math.max(width, 700) - l - r, height: (layout.height ?? 450) - t - b }, inner = width - l - r;
    const rows = rowsOf(cells, columns), notes = layout.annotations ?? [];
    const cellAt = (x, y) => {  // nearest, first of those that hold the place
      const away = ([from, to], place) => Math.max(from - place, place - to, 0);
      return cells.reduce((best, cell) => { const far = away(cell.x, x) + away(cell.y, y); return far < best.far - 1e-9 ? { cell, far } : best; }, { cell: null, far: Infinity }).cell;
    };
    const onPaper = thing => thing.xref === "paper" || thing.yref === "paper" || !thing.xref && !thing.yref;
    const belongs = note => onPaper(note) && note.y > 1e-6 ? cellAt(note.x, note.y) : null;
    // titles of panels, broken into lines, which need room above
    const owner = notes.map(belongs);
    rows.forEach(row => row.forEach(cell => { cell.wide = (inner - BESIDE * (row.length - 1)) / row.length; cell.over = 0; }));
    notes.forEach((note, i) => {
      if (!owner[i] || note.showarrow || note.y < owner[i].y[1] - 1e-6) return;
      note.text = wrapped(note.text, owner[i].wide + (columns > 1 ? 20 : 30));
      owner[i].over = Math.max(owner[i].over, LINE * (note.text.split("<br>").length - 1));
    });
    for (const cell of cells) {  // titles of axes in lines, those below a panel need room there
      cell.under = 0;
      for (const key of axesOf(cell, "x")) {
        const { title } = layout[key] ?? {}, ofTraces = data.filter(trace => cell.holders.has(`${trace.xaxis ?? "x"} ${trace.yaxis ?? "y"}`)).flatMap(trace => [...trace.x ?? []]);
        const ticktext = layout[key]?.ticktext ?? [...new Set(ofTraces.filter(x => typeof x === "string"))];
        const letters = Math.max(0, ...ticktext.flatMap(text => String(text).split("<br>")).map(line => line.length));
        const isTurned = letters * ticktext.length * LETTER > cell.wide;  // ticks that are words, which turn where they are many
        cell.under = Math.max(cell.under, isTurned ? Math.min(letters * LETTER, 80) : LINE * (Math.max(1, ...ticktext.map(text => String(text).split("<br>").length)) - 1));
        if (!title?.text) continue;
        title.text = wrapped(title.text, cell.wide + 20, OF_AXES);
        cell.under += 1.2 * LINE * (title.text.split("<br>").length - 1);
      }
    }
    const under = row => Math.max(...row.map(cell => cell.under)), high = row => Math.max(...row.map(cell => (cell.y[1] - cell.y[0]) * old.height)), over = row => Math.max(...row.map(cell => cell.over));
    const total = rows.reduce((sum, row, i) => sum + high(row) + over(row) + (i ? BELOW + under(rows[i - 1]) : 0), 0);
    let top = total;
    rows.forEach((row, i) => {
      top -= over(row) + (i ? BELOW + under(rows[i - 1]) : 0);
      row.forEach((cell, column) => {
        const left = column * (cell.wide + BESIDE);
        cell.to = { x: [left / inner, (left + cell.wide) / inner], y: [(top - high(row)) / total, top / total] };
      });
      top -= high(row);
    });
    const place = (value, from, to, was, is) => value < from[0] ? to[0] - (from[0] - value) * was / is : value > from[1] ? to[1] + (value - from[1]) * was / is
      : to[0] + (value - from[0]) / (from[1] - from[0]) * (to[1] - to[0]);
    const placeX = (cell, x) => place(x, cell.x, cell.to.x, old.width, inner), placeY = (cell, y) => place(y, cell.y, cell.to.y, old.height, total);
    notes.forEach((note, i) => {
      if (!owner[i]) return onPaper(note) && (note.y = note.y * old.height / total);
      if (note.xref !== "paper" && note.xref) return note.y = placeY(owner[i], note.y);
      if (note.yref === "paper" || !note.yref) note.y = placeY(owner[i], note.y);
      note.x = Math.min(1, placeX(owner[i], note.x));
    });
    for (const shape of layout.shapes ?? []) {
      const cell = cellAt((shape.x0 + shape.x1) / 2, (shape.y0 + shape.y1) / 2);
      if (shape.xref === "paper" && cell) [shape.x0, shape.x1] = [placeX(cell, shape.x0), placeX(cell, shape.x1)];
      if (shape.yref === "paper" && cell) [shape.y0, shape.y1] = [placeY(cell, shape.y0), placeY(cell, shape.y1)];
    }
    const bar = (colorbar, cell) => {  // a scale of colours stays beside its panel
      const { x = 1.02, y = 0.5, len = 1 } = colorbar;
      const whole = len * (1 - 1e-6) > cell.y[1] - cell.y[0] + 0.2;
      Object.assign(colorbar, whole ? { x: 1.02, y: 0.5, len: Math.min(1, old.height / total) } : { x: Math.min(placeX(cell, x), 1.02), y: placeY(cell, y), len: len * old.height / total });
    };
    for (const trace of data) {
      const holder = trace.scene ?? `${trace.xaxis ?? "x"} ${trace.yaxis ?? "y"}`, cell = cells.find(each => each.holders.has(holder)) ?? cells[0];
      for (const colorbar of [trace.colorbar, trace.marker?.colorbar]) if (colorbar) bar(colorbar, cell);
    }
    for (const key of Object.keys(layout)) if (/^coloraxis\d*$/.test(key) && layout[key].colorbar) bar(layout[key].colorbar, cells[0]);
    for (const cell of cells) {
      for (const holder of cell.holders) if (!holder.includes(" ")) layout[holder].domain = { ...cell.to };
      for (const letter of ["x", "y"]) for (const key of axesOf(cell, letter)) {
        const axis = layout[key] ??= {};
        if (!axis.overlaying) axis.domain = cell.to[letter];
        if (axis.matches && axis.showticklabels === false && axis.visible !== false) axis.showticklabels = true;
        const beside = layout[axesOf(cell.leftmost, letter)[0]];
        if (letter === "y" && columns === 1 && !axis.title?.text && beside?.title?.text && !axis.overlaying) axis.title = structuredClone(beside.title);
        if (letter === "y" && axis.title?.text) axis.title.text = wrapped(axis.title.text, 0.85 * high([cell]), OF_AXES);
      }
    }
    layout.height = total + t + b + under(rows.at(-1));
    if (layout.margin) layout.margin.b = b + under(rows.at(-1));
    if (layout.legend?.y !== undefined) layout.legend.y *= old.height / total;
    return { data, layout };
  };

  // height that names of traces need below a figure, more than in a box of 1,080 pixels
  const legend = (data, width) => {
    const names = [...new Set(data.filter(trace => trace.showlegend !== false && trace.name).map(trace => trace.name))];
    const wide = 45 + LETTER * Math.max(0, ...names.map(name => name.length)), rows = box => Math.ceil(names.length / Math.max(1, Math.floor(box / wide)));
    return names.length > 1 ? 19 * Math.max(0, rows(width - 90) - rows(990)) : 0;
  };
  // traces and layout of a figure for a box: `panel` pixels are the least that a panel needs, `least` the whole
  const fitting = (figure, width, panel) => {
    const cells = cellsOf(figure), most = fullest(cells), columns = Math.max(1, Math.floor(width / panel));
    if (!cells.length || (columns >= most && (most > 1 || width >= 600))) return { columns: Infinity, data: figure.data, layout: figure.layout };
    const { data, layout } = arranged(figure, columns, width);
    if (layout.showlegend !== false && layout.legend?.orientation === "h") layout.height += legend(data, width);
    return { columns: Math.min(columns, most), data, layout };
  };
  // a table that is wider than its box, or has too little room for words, becomes a list of cards, each cell with the head of its column; the page is laid
  // out three times, however many tables there are, since no width is read between two changes
  const tables = (within = document) => {
    let boxes = [...within.querySelectorAll(".scroll")].map(box => [box, box.querySelector(":scope > table")]).filter(([, table]) => table);
    const isWide = ([box]) => box.scrollWidth > box.clientWidth + 1, isNarrow = ([box, table]) => box.clientWidth < COLUMN * table.rows[0]?.cells.length;
    for (const [, table] of boxes) table.classList.remove("tight", "cards");
    boxes = boxes.filter(isWide);
    for (const [, table] of boxes) table.classList.add("tight");
    boxes = boxes.filter(each => isWide(each) || isNarrow(each));
    for (const [, table] of boxes) {
      const heads = [...(table.rows[0]?.cells ?? [])].filter(cell => cell.tagName === "TH").map(cell => cell.textContent);
      for (const row of table.rows) [...row.cells].forEach((cell, i) => { if (cell.tagName === "TD" && heads[i]) cell.dataset.head = heads[i]; });
      table.classList.add("cards");
    }
  };
  addEventListener("load", () => tables());
  document.addEventListener("toggle", event => tables(event.target), true);
  let due;
  addEventListener("resize", () => { clearTimeout(due); due = setTimeout(tables, 100); });
  return { fitting, tables };
})();
