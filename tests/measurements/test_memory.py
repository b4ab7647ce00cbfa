"""What a network takes is compared with the memory of the machine and of its container."""

from __future__ import annotations

from pathlib import Path

import pytest

from modinterp.measurements import memory
from modinterp.measurements.memory import check_memory, free_memory, needed_memory
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.tasks import addition

TASK = addition(53)
CONFIG = TransformerConfig.of(TASK, d_model=16, n_heads=2, d_head=8, d_mlp=24)
NETWORK = hooked(CONFIG, initial_weights(CONFIG, 0))


def test_a_network_that_needs_more_than_is_free_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    needed = needed_memory(TASK, NETWORK)
    monkeypatch.setattr(memory, "free_memory", lambda: needed - 1)
    with pytest.raises(ValueError, match=r"all 2,809 inputs of mine would take .* that are free; end other programs"):
        check_memory("mine", TASK, NETWORK)
    monkeypatch.setattr(memory, "free_memory", lambda: needed)
    check_memory("mine", TASK, NETWORK)
    assert not capsys.readouterr().err
    monkeypatch.setattr(memory, "WORTH_TELLING", 0)
    check_memory("mine", TASK, NETWORK)
    assert capsys.readouterr().err.startswith("mine takes up to 0.0 GiB of memory; ")


@pytest.mark.parametrize(("limit", "free"), [("max", None), (str(2**20), 2**20 - 1000 + 300)])
def test_the_limit_of_a_container_holds(
    limit: str, free: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("memory.max", limit), ("memory.current", "1000"), ("memory.stat", "anon 5\ninactive_file 300")):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    assert (free_memory() == free) == (free is not None)
    assert free_memory() > 0
