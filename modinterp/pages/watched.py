"""Write a page with the curves, spectra and progress measures of a running training, which reloads its data."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go

from modinterp.analyses.fourier.transforms import component_norms
from modinterp.analyses.training.progress import progress_at
from modinterp.figures import fourier, history, progress
from modinterp.files import write_atomically
from modinterp.measurements import CyclicMeasurements, measure_as_published
from modinterp.pages import filmed
from modinterp.pages.html import rendered
from modinterp.pages.plots import Drawn, untitled
from modinterp.runs import TrainedRun, load
from modinterp.runs.recorded_run import is_recorded, recorded_run

PAGE, CURVES = "index.html", "curves.js"
FINAL = "<!-- the training is over -->"
MOST, STILLS = 16, 40  # snapshots that are measured, and that a film shows
MOST_SECONDS = 86_400.0  # between two looks


@dataclass
class Watched:
    """The measurements of a running training so far, each computed once.

    Attributes:
        seconds: time between two reads of the data file by the page. [s]
    """

    seconds: float = 5.0
    _measured: dict[tuple[int, tuple[int, ...]], dict[str, float]] = field(default_factory=dict)

    def write(self, run: TrainedRun, out: Path) -> Path:
        """Write the current curves of a run and the page that shows them; return the path of the page.

        Raises:
            OSError: the folder cannot be written.
        """
        titled = [(key, *untitled(figure)) for key, figure in self.figures(run)]
        shown = [{"key": key, "title": title, "content": content} for key, title, content in titled]
        line = ". ".join(filter(None, (repr(run), self.why_no_film(run))))
        told = json.dumps({"line": line, "over": not run.in_training, "figures": shown}, allow_nan=False)
        write_atomically(out / CURVES, f"renewed({told});\n".encode())
        if not run.in_training:  # the last page has all figures itself, the film first, and looks for no more
            drawn = [Drawn(key, figure) for key, figure in (*self.film(run), *self.figures(run))]
            page = rendered("modinterp.pages", "watched.html", name=run.name, figures=drawn, line=line)
            write_atomically(out / PAGE, page.encode())
        elif not (out / PAGE).is_file() or FINAL in (out / PAGE).read_text(encoding="utf-8"):
            page = rendered("modinterp.pages", "watched.html", name=run.name, curves=CURVES, seconds=self.seconds)
            write_atomically(out / PAGE, page.encode())
        return out / PAGE

    def film(self, run: TrainedRun) -> Iterator[tuple[str, go.Figure]]:
        """Yield key and figure of the film of a finished training; yield nothing if the training has no snapshots or no
        waves.
        """
        m = measure_as_published(run)
        if isinstance(m, CyclicMeasurements) and not self.why_no_film(run):
            yield "film", filmed.film(m, most=STILLS)

    def why_no_film(self, run: TrainedRun) -> str:
        """Return why a training has no film, and how to get one; an empty text if it has a film or is still running."""
        if run.in_training:
            return ""
        if not run.has_weights and run.own_split is not None:
            return "The folder does not hold the module: `mi.film(recorded.run())` in your script adds the film"
        if not run.has_weights:
            return "There is no film, since the weights of this run are not available"
        m = measure_as_published(run)
        if not isinstance(m, CyclicMeasurements):
            return "There is no film: only trainings on a + b mod p and similar tasks are filmed"
        if len(m.snapshots) < 2:
            return "There is no film, since a film needs two snapshots or more"
        if not m.has_neurons:
            return (
                "There is no film, since the place of the neurons in the network is not known; `hooks` can name"
                " this place"
            )
        return (
            ""
            if m.freqs
            else ("There is no film, since no frequency of the network has a clearly larger norm than the others")
        )

    def figures(self, run: TrainedRun) -> Iterator[tuple[str, go.Figure]]:
        """Yield key and figure of each figure of the page; for a task without waves, only the curves."""
        yield "curves", history.curves({run.name: run.history}, "Accuracy and loss so far")
        m = measure_as_published(run)
        if isinstance(m, CyclicMeasurements) and run.has_weights and m.freqs:
            freqs = ", ".join(map(str, m.freqs))
            title = (
                f"Loss with only the last state's key frequencies, {freqs} (restricted), and without these (excluded)"
            )
            yield "forming", progress.forming(run.history, self.progress(m), title)
            norms = {"W_E": component_norms(m.W_E), "W_L": component_norms(m.W_L.T)}
            yield (
                "spectra",
                fourier.spectra(
                    norms,
                    m.freqs,
                    "Spectra of the matrices in the last state of the training; key frequencies are bold",
                ),
            )

    def progress(self, m: CyclicMeasurements) -> pd.DataFrame:
        """Return the progress measures of the last state and of earlier snapshots; many snapshots are thinned out
        evenly.
        """
        now = int(m.history["epoch"].iloc[-1])
        epochs = [epoch for epoch in m.snapshots if epoch < now]
        step = 1
        while len(epochs) // step > MOST:  # by powers of two, so that what was measured stays in the choice
            step *= 2
        chosen = {epoch: lambda epoch=epoch: m.at(epoch) for epoch in epochs[::step]} | {now: lambda: m.model}
        for epoch, network in chosen.items():
            if (epoch, m.freqs) not in self._measured:
                self._measured[epoch, m.freqs] = progress_at(network(), m.task, m.split, m.freqs)
        return pd.DataFrame([{"epoch": epoch} | self._measured[epoch, m.freqs] for epoch in chosen])


def film(run: TrainedRun, out: str | Path | None = None) -> Path:
    """Write the page of a training: its film, its losses, its progress measures and its spectra.

    Use `film` on a network that you trained in your own loop, as `mi.film(recorded.run())`. For a run that modinterp
    trained, `modinterp runs watch NAME` writes the same page.

    Args:
        run: a run with snapshots, as `mi.run`, `mi.record` or `mi.load` returns it.
        out: folder for the page; `reports/film/NAME` by default.
    Returns:
        Path of the page, which a browser opens from disk.
    Raises:
        OSError: the folder cannot be written.
        ValueError: the run cannot be filmed; the message says why.
    """
    watched = Watched()
    if why := watched.why_no_film(run):
        raise ValueError(f"{run.name} cannot be filmed. {why}")
    return watched.write(run, Path(out) if out is not None else Path("reports/film") / run.name)


def watch(name: str, runs: Path, out: Path, seconds: float = 5.0, once: bool = False) -> Iterator[str]:
    """Write the page of a training at each new state until the training ends; yield one line of text each time.

    Args:
        name: name of the run, in the folder `runs`.
        runs: folder of the runs.
        out: folder for the page.
        seconds: time between two checks for a new state. [s]
        once: True to stop after the first page.
    Raises:
        ValueError: `seconds` is not positive or more than a day, or the run is damaged.
        FileNotFoundError: no run of that name has begun.
    """
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError(f"--every must be more than 0 and at most {MOST_SECONDS:,.0f} seconds, got {seconds:g}")
    watched, told = Watched(seconds), ""
    while True:
        folder = runs / name
        run = recorded_run(folder, name) if is_recorded(folder) else load(name, root=runs, partial=True)
        if repr(run) != told:
            path = watched.write(run, out)
            yield f"{run!r}{'' if told else f'; open {path}'}"
            if why := watched.why_no_film(run):
                yield why
            told = repr(run)
        if once or not run.in_training:
            return
        time.sleep(seconds)
