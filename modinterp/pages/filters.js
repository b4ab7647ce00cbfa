{
  const bar = document.querySelector(".filters"), shown = { verdict: "", section: "", words: "" };
  const apply = () => {
    let count = 0;
    for (const claim of document.querySelectorAll(".claim")) {
      const { verdict, section } = claim.dataset;
      claim.hidden = (shown.verdict !== "" && verdict !== shown.verdict) || (shown.section !== "" && section !== shown.section)
        || !shown.words.split(/\s+/).every(word => claim.textContent.toLowerCase().includes(word));
      count += !claim.hidden;
    }
    for (const part of document.querySelectorAll(".section")) part.hidden = !part.querySelector(".claim:not([hidden])");
    bar.querySelector("output").textContent = count + " shown";
  };
  const buttons = [...bar.querySelectorAll("button")];
  for (const button of buttons) button.addEventListener("click", () => {
    for (const other of buttons) other.setAttribute("aria-pressed", other === button);
    shown.verdict = button.dataset.verdict;
    apply();
  });
  bar.querySelector("select").addEventListener("change", event => { shown.section = event.target.value; apply(); });
  bar.querySelector("input").addEventListener("input", event => { shown.words = event.target.value.toLowerCase().trim(); apply(); });
  const follow = () => {  // a link to a claim that the filter hides shows all of them
    const claim = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (claim?.closest("[hidden]")) { shown.section = shown.words = bar.querySelector("select").value = bar.querySelector("input").value = ""; buttons[0].click(); claim.scrollIntoView(); }
  };
  addEventListener("hashchange", follow);
}
