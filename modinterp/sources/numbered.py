"""Find figures of a source by their numbers in the paper, and load the runs from which they are drawn."""

from __future__ import annotations

import re
from contextlib import suppress
from fnmatch import fnmatchcase

import plotly.graph_objects as go

from modinterp.measurements import NetworkMeasurements, measure_as_published
from modinterp.pages.plots import least_width
from modinterp.sources.contract import Source
from modinterp.sources.drawing import Drawing
from modinterp.sources.named_runs import load
from modinterp.sources.registry import catalogue
from modinterp.terminal.suggestions import suggestion

MARGIN, WIDTH = 88, 700  # pixels beside the panels of a figure, and of an exported figure that says nothing else


def key_of(source: Source, number: str) -> str:
    """Return the key of the figure with a number in the paper.

    Raises:
        ValueError: no figure has the number, or several figures have it.
    """
    drawings = source.drawings
    if number in drawings:
        return number
    wanted = number.strip().casefold()
    wanted = f"figure {wanted}" if wanted.isdigit() else re.sub(r"^fig(ure)?\.?\s*(?=\d)", "figure ", wanted)
    found = [key for key, drawing in drawings.items() if wanted == drawing.number.casefold()]
    found = found or [key for key, drawing in drawings.items() if wanted in _numbers(drawing)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"{number} of {source.name} has several parts; name one: {', '.join(found)}")
    known = list(dict.fromkeys(drawing.number for drawing in drawings.values()))
    near = suggestion(number, [*drawings, *known])
    raise ValueError(f"{source.name} has no figure {number!r}{near}; there are {', '.join(known)}")


def _numbers(drawing: Drawing) -> set[str]:
    """The single numbers of a figure that stands for several, or for a part, such as `Figures 5 and 6`."""
    kind, _, rest = drawing.number.casefold().partition(" ")
    return (
        {f"{kind.removesuffix('s')} {n}" for n in re.findall(r"\d+", rest)} if kind in ("figure", "figures") else set()
    )


def drawn(source: Source, number: str) -> go.Figure:
    """Return the figure with a number in the paper, wide enough for its panels when it is exported.

    Raises:
        ValueError: no figure has the number, several have it, or the available runs are not enough for it.
        FileNotFoundError: none of the figure's runs is available.
    """
    key = key_of(source, number)
    drawing, main = source.drawings[key], source.main_run
    figure = drawing.figure(_measured(drawing, main), main)
    if figure is None:
        raise ValueError(f"the available runs are not enough to draw {drawing.number} of {source.name} ({key})")
    least = least_width(figure) + MARGIN
    return figure.update_layout(width=least) if least > WIDTH else figure


def _measured(drawing: Drawing, main: str) -> dict[str, NetworkMeasurements]:
    """Measurements of the runs of a figure that are here: the first of those it prefers, or all of those it shows."""
    if drawing.needs_no_run:
        return {}
    patterns = drawing.all_of or drawing.first_of or (main,)
    names = dict.fromkeys(name for pattern in patterns for name in catalogue() if fnmatchcase(name, pattern))
    found: dict[str, NetworkMeasurements] = {}
    for name in names:
        with suppress(FileNotFoundError):
            found[name] = measure_as_published(load(name))
            if not drawing.all_of:
                break
    if not found:
        load(next(iter(names), main))  # which says how to train it
    return found
