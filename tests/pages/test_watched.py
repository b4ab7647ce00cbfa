"""A training is watched from its files: the page is there from the first state on, and ends with the training."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from widths import WIDTHS, overflowing

from modinterp.commands.runs import main
from modinterp.models import TransformerConfig
from modinterp.pages.watched import MOST, Watched
from modinterp.runs import load, states, store, train
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec, training_states

TASK = addition(7)
SPEC = RunSpec(TASK, TransformerConfig.of(TASK, d_model=16, n_heads=2, d_head=8, d_mlp=24),
               Recipe(epochs=80, fraction=0.7, log_every=1, snapshot_every=1), seed=1)  # fmt: skip


def until(epoch: int, root: Path) -> None:
    """A training as it lies there when it has come to an epoch."""
    folder = root / "mine/0"
    folder.mkdir(parents=True, exist_ok=True)
    for _, state in training_states([SPEC], device="cpu"):
        store.write_snapshot(folder, state)
        if state.epoch >= epoch:
            states.write_state(folder, SPEC, state, seconds=1.0)
            return


def curves(out: Path) -> dict:
    text = (out / "curves.js").read_text()
    return json.loads(text.removeprefix("renewed(").removesuffix(");\n"))


def test_the_page_follows_the_training_and_ends_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture, browsed: Callable[[Path], str]
) -> None:
    root, out = tmp_path / "trained", tmp_path / "page"
    watch = ["watch", "mine/0", "--runs", str(root), "--out", str(out)]
    until(40, root)
    assert main([*watch, "--once"]) == 0
    assert str(out / "index.html") in capsys.readouterr().out
    early = curves(out)
    assert "epoch 40" in early["line"]
    assert not early["over"]
    assert [figure["key"] for figure in early["figures"]] == ["curves", "forming", "spectra"]
    names = {trace["name"] for trace in early["figures"][1]["content"]["data"]}
    assert names == {"train loss", "test loss", "restricted loss", "excluded loss"}
    train({"mine/0": SPEC}, root, device="cpu", progress=False)
    assert main(watch) == 0  # by itself, since the training is over
    assert curves(out)["over"]
    assert "epoch 80" in curves(out)["line"]
    page = out / "index.html"
    text = page.read_text()
    assert text.index('id="figure-film"') < text.index('id="figure-curves"')
    assert "setInterval(look" not in text
    dom = browsed(page, unfolded=True)
    assert dom.count('id="plot-') == 4
    assert "data-steps=" in dom
    assert "epoch 80" in dom


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_of_a_training_that_is_over_fits(width: int, tmp_path: Path) -> None:
    train({"mine/0": SPEC}, tmp_path, device="cpu", progress=False)
    page = Watched().write(load("mine/0", root=tmp_path), tmp_path / "page")
    assert overflowing(page, tmp_path, width) == []


def test_what_was_measured_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from modinterp.pages import watched

    measured = []

    def counted(*arguments):
        measured.append(arguments[-1])
        return {"restricted_loss_all": 1.0, "excluded_loss_train": 1.0}

    monkeypatch.setattr(watched, "progress_at", counted)
    until(40, tmp_path)
    run, follower = load("mine/0", root=tmp_path, partial=True), Watched()
    list(follower.figures(run))
    assert MOST / 2 < len(measured) <= MOST + 2
    once = len(measured)
    list(follower.figures(run))
    assert len(measured) == once


@pytest.mark.parametrize(
    ("options", "told"),
    [([], "no trained run in"), (["--every", "0"], "more than 0"), (["--every", "inf"], "at most 86,400 seconds")],
)
def test_bad_input_is_told_in_one_line(
    options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    assert main(["watch", "mine/0", "--runs", str(tmp_path), "--out", str(tmp_path / "page"), *options]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
