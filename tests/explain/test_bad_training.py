"""What is wrong with the files of a training of one's own is said in one line."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch
from runs.test_own_run import MASK, TASK, Mine
from torch import Tensor, nn

import modinterp as mi
from modinterp.commands.explain import main
from modinterp.terminal.errors import BAD_USAGE


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (print, ("executed",))


def test_a_snapshot_that_would_run_code_or_is_damaged_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.save({"model": Evil()}, tmp_path / "step_10.pt")
    with pytest.raises(ValueError, match=r"the snapshot of epoch 10 does not fit: .*step_10.pt holds"):
        mi.run(Mine(), TASK, snapshots=tmp_path, train=MASK)
    assert "executed" not in capsys.readouterr().out
    (tmp_path / "step_10.pt").write_bytes(pickle.dumps(print))
    with pytest.raises(ValueError, match="the snapshot of epoch 10 does not fit"):
        mi.run(Mine(), TASK, snapshots=tmp_path, train=MASK)


def test_snapshots_of_other_shapes_are_named() -> None:
    other = {name: torch.zeros(*w.shape, 2) for name, w in Mine().state_dict().items()}
    with pytest.raises(ValueError, match="the snapshot of epoch 5 does not fit: .*size mismatch"):
        mi.run(Mine(), TASK, snapshots={0: Mine().state_dict(), 5: other}, train=MASK)


def test_a_mask_of_another_length_is_named() -> None:
    with pytest.raises(ValueError, match=r"the mask `train` has 7 entries; .* has \d+ inputs"):
        mi.explain(Mine(), task=TASK, train=torch.ones(7, dtype=torch.bool), draws=99)


def test_a_module_that_raises_says_what_it_said() -> None:
    class Raising(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            raise RuntimeError("my layer is not ready")

    with pytest.raises(ValueError, match="my layer is not ready; name the tokens of an input"):
        mi.explain(Raising(), "add", 11)


def test_a_page_of_others_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "index.html").write_text("precious")
    torch.save(Mine().state_dict(), tmp_path / "network.pt")
    assert main([str(tmp_path / "network.pt"), "--out", str(tmp_path), "--draws", "99"]) == BAD_USAGE
    assert "holds an index.html that modinterp did not write" in capsys.readouterr().err
    assert (tmp_path / "index.html").read_text() == "precious"
