"""What of a page does not fit its box, measured by a headless Chromium at the widths of windows."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

WIDTHS = (500, 1300, 1920)  # of the window [pixels]
MEASURED = """
<script>
addEventListener("load", async () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  for (const { dataset } of document.querySelectorAll("script[data-plot]")) await drawing.draw(dataset.plot);
  await new Promise(done => setTimeout(done, 300));
  fit.tables();
  const found = [], root = document.documentElement;
  if (root.scrollWidth > innerWidth) {
    found.push(`the page is ${root.scrollWidth} px wide`);
    for (const each of document.querySelectorAll("main *"))
      if (!each.closest("svg, .plot, .scroll") && each.getBoundingClientRect().right > innerWidth + 1) { found.push(`... ${each.tagName} ${each.className} ${each.textContent.slice(0, 60)}`); break; }
  }
  for (const box of document.querySelectorAll(".scroll")) if (box.scrollWidth > box.clientWidth + 1)
    found.push(`${box.querySelector(".plot")?.id ?? box.textContent.trim().slice(0, 50)}: ${box.scrollWidth} px in a box of ${box.clientWidth}`);
  for (const table of document.querySelectorAll(".scroll > table")) {
    const narrow = [...table.querySelectorAll("td")].filter(cell => cell.clientWidth && cell.textContent.trim().split(/\\s+/).some(word => word.length < 9 && 4 * word.length > cell.clientWidth));
    if (innerWidth < 600 && narrow.length) found.push(`${narrow.length} cells break their words, such as ${narrow[0].textContent}`);
  }
  for (const plot of document.querySelectorAll(".js-plotly-plot")) {
    const box = plot.getBoundingClientRect(), words = [...plot.querySelectorAll(".main-svg text")];
    for (const text of words) {
      const { left, right, top, bottom, width } = text.getBoundingClientRect();
      const out = Math.max(box.left - left, right - box.right, box.top - top, bottom - box.bottom);
      if (width && out > 3) found.push(`${plot.id}: "${text.textContent}" is ${out.toFixed()} px outside`);
    }
    const titles = words.filter(each => each.closest(".annotation, .g-xtitle, .g-ytitle")).map(each => [each.textContent, each.getBoundingClientRect()]);
    titles.forEach(([one, a], i) => titles.slice(i + 1).forEach(([other, b]) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (one.length > 4 && other.length > 4 && wide > 4 && high > 4 && !plot.dataset.least) found.push(`${plot.id}: "${one}" lies on "${other}" (${wide.toFixed()} px)`);
    }));
  }
  document.body.dataset.drawn = document.querySelectorAll(".js-plotly-plot").length;
  document.body.dataset.window = innerWidth;
  document.body.dataset.found = JSON.stringify(found);
});
</script>
"""


def browser() -> str:
    """The Chromium of this machine; the test is skipped where there is none."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium here")
    return found


def opened(page: Path, profile: Path, width: int = 1300, height: int = 900) -> str:
    """The page as it is after its scripts, in a window of a width; no error may stand in its console."""
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
               "--no-first-run", f"--user-data-dir={profile}", "--enable-logging=stderr", "--hide-scrollbars",
               "--virtual-time-budget=60000", f"--window-size={width},{height}", "--dump-dom", f"file://{page}"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    errors = [line for line in done.stderr.splitlines() if "CONSOLE" in line and "Error" in line]
    assert not errors, errors
    return done.stdout


def overflowing(page: Path, folder: Path, width: int) -> list[str]:
    """What does not fit on a page in a window of a width, everything unfolded and drawn."""
    wanted = page.read_text()
    copy = folder / f"{page.stem}-{width}.html"
    copy.write_text(wanted.replace("</body>", f"{MEASURED}</body>"))
    dom = opened(copy, folder / f"profile-{width}", width)
    stated = {key: re.search(rf'data-{key}="([^"]*)"', dom) for key in ("found", "drawn", "window")}
    assert all(stated.values()), "the page did not come to its end"
    values = {key: html.unescape(match[1]) for key, match in stated.items() if match}
    assert int(values["window"]) == width
    assert int(values["drawn"]) >= wanted.count("<script type='application/gzip' data-plot=")
    return json.loads(values["found"])
