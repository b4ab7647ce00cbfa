// a link to something that is folded, or that a filter hides, shows it
const follow = () => {
  const thing = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!thing) return;
  if (thing.closest("[hidden]")) document.dispatchEvent(new Event("show-all"));
  for (let folded = thing.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
  thing.scrollIntoView();
};
addEventListener("hashchange", follow);
addEventListener("load", follow);
// a second click on the same link, after which the address is the same
document.addEventListener("click", event => { if (event.target.closest(`a[href="${CSS.escape(location.hash)}"], a[href="${location.hash}"]`)) follow(); });
