"""Write a reproduction as a table on the terminal, as JSON and CSV, and as one self-contained page."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from modinterp.claims import Result
from modinterp.figures.data import figure_data
from modinterp.figures.prevalence import prevalence_table
from modinterp.files import own_page, write_together
from modinterp.reproduce.findings import contradictions_table
from modinterp.reproduce.index import IndexEntry, index
from modinterp.reproduce.printed import printed_table
from modinterp.reproduce.reproduction import SPLIT_UNKNOWN, Reproduction
from modinterp.reproduce.source_page import page
from modinterp.sources import sources

_MARK = {"holds": "holds", "mixed": "mixed", "refuted": "REFUTED", "open": "open"}


def terminal_table(results: tuple[Result, ...], width: int | None = None) -> str:
    """Return one line per claim: id, verdict, our number, the source's number, statement; cut to the terminal's width.

    For a claim that does not hold, the line lists the numbers outside their tolerances. A single-network claim also
    shows its number of independent seeds, and "prelim." below eight seeds. For an open claim, the line gives the reason
    why it is open.
    """
    width = width or max(shutil.get_terminal_size((160, 24)).columns, 80)
    id_width = max(len(r.claim.id) for r in results)
    verdicts = [_verdict(r) for r in results]
    verdict_width = max(len("open: pending"), *map(len, verdicts))
    rest = max(width - id_width - verdict_width - 8, 30)  # 8 between the columns
    measured_width, source_width = int(rest * 0.42), int(rest * 0.23)
    widths = (id_width, verdict_width, measured_width, source_width, rest - measured_width - source_width)

    def line(*cells: str) -> str:
        shown = (textwrap.shorten(c, w, placeholder="…").ljust(w) for c, w in zip(cells, widths, strict=True))
        return "  ".join(shown).rstrip()

    head = line("claim", "verdict", "measured", "source", "statement")
    rows = []
    for r, verdict in zip(results, verdicts, strict=True):
        off = [
            f"{r.value_text(name)}, not {r.claim.bands[name]}: {r.title(name)}"
            for name in r.off
            if r.verdict in ("refuted", "mixed") or name in r.claim.given
        ]
        on = [f"{r.range_text(name)}: {r.title(name)}" for name in r.claim.expected if name in r.measured]
        measured = "; ".join(off or on) or r.claim.finding.why
        rows.append(line(r.claim.id, verdict, measured, r.claim.source_says, r.claim.statement))
    return "\n".join([head, "-" * len(head), *rows])


def _verdict(result: Result) -> str:
    """Return a short verdict such as "holds 20/20", "mixed 2/3 prelim." or "open pending", with counts of independent
    seeds.
    """
    seeds = result.prevalence.seeds if result.prevalence is not None and len(result.networks) > 1 else None
    beside = result.why_open or (f"{seeds.held}/{seeds.of}" if seeds else "")
    preliminary = " prelim." if result.is_preliminary and result.verdict != "open" else ""
    return f"{_MARK[result.verdict]} {beside}".rstrip() + preliminary


def claims_json(results: tuple[Result, ...]) -> str:
    """Return a list with `Result.to_json` for each claim, and with the first claim of the same measurement as
    `measurement`.

    Claims of the same measurement count once; `counts_as` is the claim's column in the totals of a page.
    """
    first: dict[Hashable, str] = {}
    objects = []
    for result in results:
        claim = result.claim
        about = sources().get(claim.source)
        key = claim.source, claim.id if about is None else about.measurement(claim)
        objects.append(result.to_json() | {"measurement": first.setdefault(key, claim.id)})
    return json.dumps(objects, indent=1, ensure_ascii=False) + "\n"


def claims_table(results: tuple[Result, ...], beside: Mapping[str, Result] | None = None) -> pd.DataFrame:
    """Return a table of text with one row for each claim.

    Args:
        beside: map from a claim to its result on the run that a user's network replaces; if the map is empty, the
            column is left out.
    """
    table = pd.DataFrame(
        {
            "id": r.claim.id,
            "where": r.claim.where,
            "statement": r.claim.statement,
            "reference": r.claim.source_says,
            "expected": r.expected_text(),
            "measured": r.measured_text(),
            "verdict": r.verdict,
            "kind": r.kind,
            "reason": r.why_open,
            "prevalence": r.prevalence_text,
            "seeds": r.seeds,
            "redefined": r.claim.redefined,
            "specificity": r.specificity if r.control else "",
            "by selection": r.claim.is_by_selection,
            "finding": r.claim.finding.verdict,
            "why": r.claim.finding.why,
            "runs": " ".join(r.runs),
            "runs_recorded": " ".join(r.recorded),
            "runs_pending": " ".join(r.runs_pending),
        }
        for r in results
    )
    if beside:
        ours = [beside[r.claim.id].measured_text() if r.claim.id in beside else "" for r in results]
        table.insert(list(table).index("measured") + 1, "ours", ours)
    return table


def write_index(entries: Sequence[IndexEntry], out: Path) -> Path:
    """Write `index.html` and `claims.json` for all sources, in the folder that holds their folders; return the page's
    path.

    Raises:
        OSError: the folder cannot be written; its old content stays.
    """
    own_page(out, "claims.json")
    claims = claims_json(tuple(r for entry in entries for r in entry.results))
    write_together({out / "claims.json": claims.encode(), out / "index.html": index(entries).encode()})
    return out / "index.html"


def write_report(reproduced: Reproduction, out: Path, inside: bool = False) -> Path:
    """Write the report and return the path of its page.

    Write `claims.json`, `claims.csv`, `prevalence.csv`, `printed.csv`, `contradictions.csv`, `tables/KEY.csv`,
    `data/KEY.csv` with the numbers of each figure, `index.html`, and one page for each question.

    Raises:
        OSError: the folder cannot be written; its old content stays.
    """
    own_page(out, "claims.json")
    tables = {
        "claims": claims_table(reproduced.results, reproduced.beside),
        "contradictions": contradictions_table(reproduced),
        "prevalence": prevalence_table(reproduced.results),
        **{f"tables/{key}": table for key, (_, table) in reproduced.tables.items()},
        **{f"data/{key}": figure_data(figure) for key, (_, figure) in reproduced.figures.items()},
    }
    if len(printed := printed_table(reproduced.results)):
        tables["printed"] = printed
    pages = {question.key: page(reproduced.part(question), question.title) for question in reproduced.pages}
    content = {"claims.json": claims_json(reproduced.results)}
    content |= {f"{name}.csv": table.to_csv(index=False) for name, table in tables.items()}
    content |= {f"{key}.html": text for key, text in (pages | {"index": page(reproduced, inside=inside)}).items()}
    write_together({out / name: text.encode() for name, text in content.items()})
    return out / "index.html"


def summary(reproduced: Reproduction, checkpoint: Path | None, seconds: float) -> Iterator[str]:
    """Return lines of text: counts of verdicts, verdicts measured on only some of their runs, and verdicts that differ
    from the record.
    """
    results, recompute = reproduced.results, reproduced.recompute
    subject = f" on {checkpoint}" if reproduced.foreign else ""
    yield f"\n{reproduced.source.name}{subject}: {reproduced.tally}; {seconds:.0f} s"
    if reproduced.foreign:
        yield SPLIT_UNKNOWN
        return
    if reproduced.recomputed.of and not recompute:
        yield (
            f"recomputed from weights: {reproduced.recomputed} numbers of single networks; all other numbers "
            "are recorded"
        )
        if reproduced.recomputable.held > reproduced.recomputed.held:
            yield f"numbers of networks with weights: {reproduced.recomputable}; --recompute measures all of these"
    if partly := sum(bool(result.runs_pending) for result in results):
        yield f"{partly} claims measured on part of their runs; `python -m modinterp.runs list` shows the pending runs"
    if recompute:
        same, still_open = sum(r.as_recorded for r in results), sum(r.verdict == "open" for r in results)
        yield f"{same} of {len(results)} recomputed verdicts equal the recorded verdicts; {still_open} open"
    for result in results:
        if not result.as_recorded and not (recompute and result.verdict == "open"):
            yield f"{result.claim.id} is {result.words}, but was recorded as {result.claim.finding.words}"
