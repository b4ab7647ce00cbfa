"""An explanation as one self-contained page, as JSON and as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import plotly.graph_objects as go

from modinterp.analyses.fourier import component_norms, transform_2d
from modinterp.analyses.symmetry import correct_logits
from modinterp.claims.claim import number_text
from modinterp.explain.explanation import Explanation
from modinterp.explain.facts import Facts
from modinterp.explain.verdict import FOURIER
from modinterp.figures import ablations, fourier, grids, neurons, nulls, readout, symmetry
from modinterp.reproduce.html import figure_html, rendered, table_html
from modinterp.runs.store import write


def _titled(figure: go.Figure, title: str) -> go.Figure:
    """The figures of the sources state what is seen there; here each says only what it shows."""
    return figure.update_layout(title_text=title)


def figures(facts: Facts) -> Iterator[tuple[str, go.Figure]]:
    """The figures of an explanation, each with its key."""
    freqs, read = facts.freqs, facts.read_name
    norms = {"W_E": component_norms(facts.W_E).cpu(), read: component_norms(facts.W_read.T).cpu()}
    title = f"Fourier components of the residues; key frequencies {', '.join(map(str, freqs))}"
    yield "spectra", _titled(fourier.spectra(norms, freqs), title)
    yield "nulls", nulls.among_draws(facts.spectrum_nulls.rows, f"The spectrum of {read} among draws without structure")
    single = ablations.per_frequency(facts.loss_without_each, facts.whole.loss, facts.restricted.loss, freqs)
    yield "single", _titled(single, "Loss with one frequency taken out of the logits; key frequencies in blue")
    title = f"Share of {facts.read_from} along each direction of {read} that one wave is"
    yield "readoff", _titled(readout.readoff(facts.readoff), title)
    if facts.last_neurons is not None:
        sizes = {k: len(members) for k, members in facts.last_neurons.clusters().items()}
        largest = max(sizes, key=lambda k: sizes[k], default=freqs[0])
        drawn = neurons.histogram_and_cluster(facts.last_neurons, facts.W_read, largest)
        yield "neurons", _titled(drawn, "How much of a neuron its best frequency explains, and what one cluster writes")
    if facts.has_attention:
        pattern = facts.grid[f"{facts.last_block}.attn.hook_pattern"]
        fields = {f"head {head}": pattern[:, :, head, 0] for head in range(min(4, pattern.shape[2]))}
        yield "heads", grids.maps(fields, "attention", "Attention to the first number, last layer, by pair", zmax=1)
    spectrum = transform_2d(facts.logits).norm(dim=-1).cpu()
    spectrum[0, 0] = 0
    title = "Norm of the logits' components over both numbers"
    yield "logits", fourier.norm_maps({"logits, constant left out": spectrum}, title)
    field, distance = correct_logits(facts.logits, facts.sign).cpu(), "a - b" if facts.sign > 0 else "a + b"
    yield "symmetry", symmetry.correct_logits(field, distance, "The correct logit by the distance of the two numbers")


def page(found: Explanation) -> str:
    """The explanation as one HTML document with every figure and plotly itself inside."""
    sections = [
        (title, [(row, "not measured" if row.value is None else number_text(row.value)) for row in group])
        for title, group in groupby(found.rows, key=lambda row: row.section)
    ]
    return rendered(
        "modinterp.explain",
        "page.html",
        name=found.name,
        facts=found.facts,
        verdict=found.verdict,
        state="holds" if found.verdict.label == FOURIER else "not-measured",
        criteria=[(c, number_text(c.value)) for c in found.verdict.criteria],
        sections=sections,
        figures=[figure_html(figure, key) for key, figure in figures(found.facts)],
        tables=[table_html(title, table) for title, table in found.tables.items()],
    )


def write_explanation(found: Explanation, out: Path) -> Path:
    """Write `explanation.json`, `explanation.csv` and `index.html`, and return the path of the page.

    Raises:
        OSError: the folder cannot be written; what was there stays.
    """
    content = {
        "explanation.json": json.dumps(found.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        "explanation.csv": found.table().to_csv(index=False),
        "index.html": page(found),
    }
    for name, text in content.items():
        write(out / name, text.encode())
    return out / "index.html"
