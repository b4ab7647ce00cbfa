// the first mention of each term of the glossary is explained where one points at it, or comes to it by the keyboard
(() => {
  const terms = JSON.parse(document.getElementById("terms")?.textContent ?? "{}"), names = Object.keys(terms).sort((one, other) => other.length - one.length);
  if (!names.length) return;
  const pattern = new RegExp(`(?<![\\w/-])(${names.map(name => name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})(?![\\w/-])`, "i");
  const left = new Map(names.map(name => [name.toLowerCase(), terms[name]]));
  const bubble = document.createElement("div");
  bubble.id = "tooltip";
  bubble.setAttribute("role", "tooltip");
  bubble.hidden = true;
  document.body.append(bubble);
  const show = term => {
    bubble.textContent = term.dataset.told;
    bubble.hidden = false;
    const at = term.getBoundingClientRect(), own = bubble.getBoundingClientRect();
    bubble.style.left = `${Math.max(8, Math.min(at.left, document.documentElement.clientWidth - own.width - 8))}px`;
    bubble.style.top = `${at.top > own.height + 12 ? at.top - own.height - 6 : at.bottom + 6}px`;
  };
  const hide = () => { bubble.hidden = true; };
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT, {
    acceptNode: node => node.parentElement.closest("script, style, a, button, code, select, label, nav, .plot, .sees, h1, template, dfn, output, .drawn") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  });
  const found = [];
  while (texts.nextNode()) found.push(texts.currentNode);
  for (let node of found) for (let from = 0, match; (match = pattern.exec(node.data.slice(from)));) {
    const name = match[1].toLowerCase(), at = from + match.index;
    from = at + name.length;
    if (!left.has(name)) continue;
    const term = document.createElement("dfn"), rest = node.splitText(at), after = rest.splitText(name.length);
    term.textContent = rest.data;
    Object.assign(term.dataset, { told: left.get(name) });
    term.tabIndex = 0;
    term.setAttribute("aria-describedby", "tooltip");
    rest.replaceWith(term);
    left.delete(name);
    node = after;
    from = 0;
  }
  for (const [event, act] of [["mouseover", show], ["focusin", show], ["mouseout", hide], ["focusout", hide]])
    document.addEventListener(event, ({ target }) => { if (target.closest?.("dfn")) act(target.closest("dfn")); });
  addEventListener("scroll", hide, { passive: true });
  addEventListener("keydown", ({ key }) => { if (key === "Escape") hide(); });
})();
