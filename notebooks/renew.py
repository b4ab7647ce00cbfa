"""Run the notebooks and store what came out: `python3 make.py notebooks [NAME ...]`.

It needs kaleido, Chromium and, which does not come with the rest, Pillow.

A figure is stored as a picture, drawn in lines or as a photograph, whichever is smaller, which a web view of the
repository shows; and beside it as what a notebook draws, with numbers as fine as one sees them, where that is small.
"""

from __future__ import annotations

import io
import json
import os
import sys
import textwrap
from base64 import b64encode
from pathlib import Path

import nbformat
import plotly.graph_objects as go
from nbclient import NotebookClient

from modinterp.figures.animation import without_slider
from modinterp.pages.packed import plain
from modinterp.pages.plots import least_width

HERE = Path(__file__).parent
FIGURE = "application/vnd.plotly.v1+json"
WIDTH, SCALE, QUALITY = 600, 0.75, 85  # of a figure [pixels]; of its photograph
MOST, LETTER = 12_000, 8  # of what stands beside it [characters]; of a letter of a title [pixels]


def renewed(path: Path) -> nbformat.NotebookNode:
    """A notebook with what comes out of it today."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(HERE)}}
    NotebookClient(notebook, timeout=900, kernel_name="python3", resources=where).execute()
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = {}
        if "outputs" in cell:  # without warnings, which name folders of this machine
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        for output in cell.get("outputs", ()):
            if FIGURE in output.get("data", {}):
                output.data = _pictured(output.data)
    return notebook


def photograph(picture: bytes) -> bytes:
    """A picture as a JPEG that is as small as one does not see."""
    from PIL import Image

    small = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").save(small, "JPEG", quality=QUALITY, optimize=True, progressive=True)
    return small.getvalue()


def _pictured(data: dict) -> dict:
    """A figure as a picture, and as itself where it is small."""
    figure = go.Figure({key: data[FIGURE][key] for key in ("data", "layout", "frames") if key in data[FIGURE]})
    small = json.loads(json.dumps(plain(figure)))
    small["layout"].pop("template", None)  # the colours and lines of plotly's own, by which every figure would grow
    still, _ = without_slider(figure)
    width = max(WIDTH, least_width(still))
    title = "<br>".join(textwrap.wrap(still.layout.title.text or "", width // LETTER))
    still.update_layout(title_text=title)
    shown = {"width": width, "height": still.layout.height}
    lines, pixels = still.to_image("svg", **shown), photograph(still.to_image("png", scale=SCALE, **shown))
    is_light = len(lines) <= len(pixels)
    picture = {"image/svg+xml": lines.decode()} if is_light else {"image/jpeg": b64encode(pixels).decode()}
    return picture | ({FIGURE: small | {"config": {}}} if len(json.dumps(small)) <= MOST else {})


if __name__ == "__main__":
    os.environ["PLOTLY_RENDERER"] = "plotly_mimetype"
    chosen = [HERE / f"{name}.ipynb" for name in sys.argv[1:]] or sorted(HERE.glob("*.ipynb"))
    for path in chosen:
        nbformat.write(renewed(path), path)
        print(f"{path.name} {path.stat().st_size:,}", flush=True)
