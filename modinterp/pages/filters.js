{
  const bar = document.querySelector(".filters"), shown = { verdict: "", section: "", words: "" };
  const sections = [...document.querySelectorAll("details.section")];
  const apply = () => {
    let count = 0;
    for (const claim of document.querySelectorAll(".claim")) {
      const { verdict, section } = claim.dataset;
      claim.hidden = (shown.verdict !== "" && verdict !== shown.verdict) || (shown.section !== "" && section !== shown.section)
        || !shown.words.split(/\s+/).every(word => claim.textContent.toLowerCase().includes(word));
      count += !claim.hidden;
    }
    const asked = Object.values(shown).some(Boolean);  // what is asked for is unfolded
    for (const part of sections) { part.hidden = !part.querySelector(".claim:not([hidden])"); part.open = asked; }
    bar.querySelector("output").textContent = count + " shown";
  };
  const buttons = [...bar.querySelectorAll("[data-verdict]")];
  for (const button of buttons) button.addEventListener("click", () => {
    for (const other of buttons) other.setAttribute("aria-pressed", other === button);
    shown.verdict = button.dataset.verdict;
    apply();
  });
  bar.querySelector("select").addEventListener("change", event => { shown.section = event.target.value; apply(); });
  bar.querySelector("input").addEventListener("input", event => { shown.words = event.target.value.toLowerCase().trim(); apply(); });
  bar.querySelector("[data-unfold]").addEventListener("click", ({ target }) => {
    const open = sections.some(part => !part.open);
    for (const part of sections) part.open = open;
    target.textContent = open ? "fold all" : "unfold all";
  });
  document.addEventListener("show-all", () => {  // a link leads to a claim that the filter hides
    shown.section = shown.words = bar.querySelector("select").value = bar.querySelector("input").value = "";
    buttons[0].click();
  });
}
