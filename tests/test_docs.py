"""The pages of docs/ say what is so; that their sessions run, and print what is shown, doctest checks (docs/conftest.py)."""

from __future__ import annotations

import ast
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from modinterp import explain, measurements, runs, tasks, training
from modinterp.explain import labels
from modinterp.models import TransformerConfig, layouts
from modinterp.terminal.parser import Parser

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
FENCE = re.compile(r"^```(?:\{code-block\} )?(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
THEIRS = {"your_paper", "my_tasks"}  # packages that the reader writes
COMMANDS = {
    "compare": "modinterp.commands.compare",
    "distill": "modinterp.commands.distill",
    "explain": "modinterp.commands.explain",
    "publish": "modinterp.commands.publish",
    "reproduce": "modinterp.commands.reproduce",
    "runs": "modinterp.commands.runs",
    "sources": "modinterp.commands.sources",
    "train": "modinterp.commands.train",
}


def fences(kind: str) -> list[tuple[str, str]]:
    """Name of the page and text of all its blocks of a kind."""
    return [
        (str(page.relative_to(DOCS)), text)
        for page in PAGES
        for k, text in FENCE.findall(page.read_text())
        if k == kind
    ]


def commands() -> list[str]:
    """Every command of ours that a page shows."""
    text = "\n".join(text for _, text in fences("console")).replace("\\\n", " ")
    text = re.sub(r"reproduce your_paper", "reproduce nanda", text)  # a source that the reader writes
    return re.findall(r"(?:python -m modinterp\.|\$ modinterp )(.*?)(?: && .*)?$", text, re.MULTILINE)


def test_every_kind_of_block_is_known() -> None:
    kinds = {kind for page in PAGES for kind, _ in FENCE.findall(page.read_text())}
    assert kinds <= {"pycon", "python", "console", "text"}
    indented = re.compile(r"^\n    (?:python|import|pip|>>>|run =)", re.MULTILINE)
    assert not [page.name for page in PAGES if indented.search(page.read_text())]


@pytest.mark.parametrize(("page", "text"), fences("python"))
def test_code_that_is_not_run_is_code_and_imports_what_there_is(page: str, text: str) -> None:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] not in THEIRS:
            assert all(hasattr(import_module(node.module or ""), each.name) for each in node.names), page


@pytest.mark.parametrize("command", commands())
def test_a_command_that_is_shown_is_one(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Parsed(BaseException):
        pass

    plain = Parser.parse_args

    def parsed(self: Parser, *args: object, **options: object) -> None:
        plain(self, *args, **options)
        raise Parsed

    monkeypatch.setattr(Parser, "parse_args", parsed)
    name, *arguments = shlex.split(command, comments=True)
    main = import_module(COMMANDS[name]).main
    with pytest.raises(Parsed):
        main(arguments)


def test_every_page_is_listed() -> None:
    listed = set(re.findall(r"^([\w/]+)$", (DOCS / "index.md").read_text(), re.MULTILINE))
    assert {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES} - {"index"} <= listed


def test_the_glossary_has_what_pages_link_to() -> None:
    terms = set(re.findall(r"^\((glossary-[\w-]+)\)=$", (DOCS / "glossary.md").read_text(), re.MULTILINE))
    linked = {term for page in PAGES for term in re.findall(r"glossary\.md#([\w-]+)", page.read_text())}
    assert linked <= terms
    own = set(re.findall(r"\]\(#([\w-]+)\)", (DOCS / "glossary.md").read_text()))
    assert {f"glossary-{term}" if not term.startswith("glossary-") else term for term in own} <= terms


def test_every_verdict_is_documented() -> None:
    page = (DOCS / "howto" / "explain.md").read_text()
    every = {value for value in vars(labels).values() if isinstance(value, str) and value[0] not in "_/"}
    every -= {labels.__doc__, labels.__name__, labels.__package__, "annotations"}
    assert len(every) == 16
    assert set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)) >= every


def test_every_layout_is_documented() -> None:
    table = (layouts.__doc__ or "").split("=\n")[2].splitlines()
    every = {line.split("  ")[0].strip() for line in table if line and not line.startswith((" ", "="))}
    assert len(every) == 9
    page = (DOCS / "howto" / "files.md").read_text()
    assert set(re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)) - {"layout", "---"} == every


@pytest.mark.nightly
def test_the_training_of_the_tutorial_ends_where_it_says(tmp_path: Path) -> None:
    """Trained anew: other numbers on another machine, the same algorithm."""
    task = tasks.addition(29)
    config = TransformerConfig.of(task, d_model=64, n_heads=4, d_head=16, d_mlp=256)
    recipe = training.Recipe(epochs=3_000, fraction=0.7, lr=2e-3, weight_decay=1.0)
    shipped = runs.load("sums-29", root=DOCS / "trained")
    spec = training.RunSpec(task, config, recipe, seed=0)
    assert shipped.spec == spec
    runs.train({"sums-29": spec}, tmp_path, progress=False)
    run = runs.load("sums-29", root=tmp_path)
    m = measurements.measure(run)
    assert m.grokking.memorised < 300
    assert m.grokking.grokked < 2_500
    assert explain.explain(run, draws=99).verdict.label == "Fourier multiplication"
