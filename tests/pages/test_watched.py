"""A training is watched from its files: the page is there from the first state on, and ends with the training."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from widths import WIDTHS, overflowing

from modinterp.commands.runs import main
from modinterp.models import TransformerConfig
from modinterp.pages.watched import MOST, Watched, film
from modinterp.runs import load, states, store, train
from modinterp.runs.own_run import run
from modinterp.runs.recorder import record
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


class Mine(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.up, self.down = nn.Embedding(7, 8), nn.Linear(16, 24), nn.Linear(24, 7)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.down(self.up(self.embed(tokens).flatten(1)).relu())


def test_an_own_module_is_filmed_in_its_script_and_its_page_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    torch.manual_seed(0)
    module, task, root = Mine(), addition(7, equals=False), tmp_path / "trained"
    optimiser = torch.optim.Adam(module.parameters(), lr=0.02)
    with record("mine/own", module, task, train=range(40), out=root) as recorded:
        for step in range(60):
            loss = nn.functional.cross_entropy(module(task.inputs()[:40]), task.labels()[:40, 0])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            recorded(step)
    page = tmp_path / "page" / "index.html"
    assert main(["watch", "mine/own", "--runs", str(root), "--out", str(page.parent)]) == 0
    assert "`mi.film(recorded.run())`" in capsys.readouterr().out
    assert "mi.film(recorded.run())" in page.read_text()
    assert 'id="figure-film"' not in page.read_text()
    assert film(recorded.run(), page.parent) == page
    assert 'id="figure-film"' in page.read_text()
    assert "Grokking" not in page.read_text()  # it memorised, and never generalised
    lone = run(module, task, snapshots={0: module.state_dict()}, train=range(40))
    with pytest.raises(ValueError, match="two snapshots or more"):
        film(lone, page.parent)
    assert main(["watch", "mine/onw", "--runs", str(root)]) == 2
    assert "did you mean 'mine/own'?" in capsys.readouterr().err


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
