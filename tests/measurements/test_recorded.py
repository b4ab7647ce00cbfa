"""What was measured of a run can be shipped in place of its weights, and says what the weights would."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.attention.components import Ablations
from modinterp.measurements import GroupMeasurements, measure, measure_as_published
from modinterp.measurements.recorded import plain, restored
from modinterp.publish.publishing import has_both, publish
from modinterp.reproduce.recording import numbers_of_claims, recorded
from modinterp.runs import NotRecorded, TrainedRun, load, store
from modinterp.runs.recorded_results import Recorded, read_recorded
from modinterp.sources import catalogue, source


@dataclass(frozen=True)
class Found:
    name: str
    shares: tuple[float, ...]
    by_freq: Mapping[int, tuple[int, bool]]
    kind: Literal["sums", "products"] = "sums"


MEASURED = store.MEASURED + store.PACKED
FOUND = Found("a", (0.1234567890, float("inf")), {3: (4, True)})


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (float, 0.25),
        (int, 3),
        (bool, False),
        (str, "keys"),
        (float | None, None),
        (tuple[int, str], (1, "b")),
        (list[float], [0.5, -1.0]),
        (dict[str, tuple[int, ...]], {"a": (), "b": (1, 2)}),
        (Found, Found("a", (0.5,), {3: (4, True)}, "products")),
    ],
)
def test_what_is_written_is_read(kind: type, value: object) -> None:
    assert restored(kind, plain(value)) == value


def test_numbers_keep_seven_digits_and_tensors_their_type() -> None:
    again = restored(Found, plain(FOUND))
    assert again.shares == (0.1234568, float("inf"))
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3) / 7
    back = restored(Float[Tensor, "a b"], plain(x))
    assert back.dtype == x.dtype
    torch.testing.assert_close(back, x, rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (int, 1.5),
        (int, True),
        (float, "nan"),
        (tuple[int, str], [1]),
        (tuple[int, ...], "12"),
        (dict[str, int], {"a": 1}),
        (Found, {"name": "a"}),
        (Literal["sums"], "others"),
        (Float[Tensor, "a"], [1, 2]),
        (Float[Tensor, "a"], {"dtype": "save", "values": [1]}),
        (Float[Tensor, "a"], {"dtype": "float64", "values": [[1], [2, 3]]}),
        (int | None, "x"),
    ],
)
def test_what_was_not_written_is_refused(kind: type, value: object) -> None:
    with pytest.raises(ValueError, match=r"differs from the recorded|is not a "):
        restored(kind, value)


def test_other_types_are_not_recorded() -> None:
    with pytest.raises(TypeError):
        plain(Path("x"))
    with pytest.raises(TypeError):
        restored(Path, "x")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b'{"values": 1, "claims": {}}', b'{"values": {}, "claims": {"a": 1}}']
)
def test_a_damaged_file_is_one_line(content: bytes, tmp_path: Path) -> None:
    import gzip

    path = tmp_path / MEASURED
    path.write_bytes(gzip.compress(content))
    with pytest.raises(ValueError, match="is damaged"):
        read_recorded(path)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is damaged"):
        read_recorded(path)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainedRun, TrainedRun]:
    """A run with its weights, and the same run shipped as tables."""
    out = tmp_path_factory.mktemp("shipped")
    publish("groups/a5-mlp-1", store.checkpoints(), out, tables=True)
    return load("groups/a5-mlp-1"), load("groups/a5-mlp-1", root=out)


def test_claims_have_the_numbers_that_the_weights_give(both: tuple[TrainedRun, TrainedRun]) -> None:
    whole, tables = map(measure, both)
    about = [c for c in source("groups").claims.values() if c.of_one and whole.name in c.subjects(catalogue())]
    assert len(about) >= 4
    for claim in about:
        numbers = claim.numbers(whole)
        assert dict(claim.numbers(tables)) == {
            name: pytest.approx(x, rel=1e-6, nan_ok=True) for name, x in numbers.items()
        }


def test_measurements_are_there_and_what_asks_for_weights_says_so(both: tuple[TrainedRun, TrainedRun]) -> None:
    whole, tables = map(measure, both)
    assert tables.is_recorded
    assert not whole.is_recorded
    assert tables.key_names == whole.key_names
    assert tables.neurons_restricted_loss == pytest.approx(whole.neurons_restricted_loss, rel=1e-6)
    assert tables.config == whole.config
    assert "measured when it was published" in repr(tables.run)
    with pytest.raises(NotRecorded, match="not with its weights"):
        _ = tables.logits
    before = measure(both[1].at_start())
    assert not before.is_recorded, "the network before training is another one"
    assert before.key_names != whole.key_names


PUBLISHED = [name for name in catalogue() if (store.checkpoints() / name / store.RECORD).is_file()]
WITH_BOTH = [name for name in PUBLISHED if has_both(name, store.checkpoints())]


def test_of_every_source_with_such_tables_one_run_is_shipped_with_both() -> None:
    tables = {name.partition("/")[0] for name in PUBLISHED if (store.checkpoints() / name / MEASURED).is_file()}
    assert {name.partition("/")[0] for name in WITH_BOTH} == tables


WITHDRAWN = {"is_settled", "mixed_neuron_peaks"}  # measurements that tables hold and nothing asks for any more


def shipped(name: str) -> Recorded:
    found = load(name).recorded
    assert found is not None
    return found


FIRST_WITH_BOTH = {name.partition("/")[0]: name for name in reversed(WITH_BOTH)}  # of each source


VALUES_COMPARED = ("mlp", "groups", "pizza")  # sources of which every measurement is compared, and not claims alone


@pytest.mark.parametrize("name", FIRST_WITH_BOTH.values())
def test_shipped_numbers_are_what_claims_measure_today(name: str) -> None:
    """Where this fails, the measure of a claim was changed, and the runs that are shipped as tables are published anew.

    `python -m modinterp.publish '*' --again` does so for those of `WITH_BOTH`.
    """
    was, run, compared = shipped(name), replace(load(name), recorded=None), 0
    today = recorded(run) if name.partition("/")[0] in VALUES_COMPARED else None
    numbers, now = was.claims, today.claims if today else numbers_of_claims(measure_as_published(run))
    for claim in (claim for claim in set(numbers) & set(now) if claim.startswith(name.partition("/")[0])):
        for key in set(numbers[claim]) & set(now[claim]):
            assert numbers[claim][key] == pytest.approx(now[claim][key], rel=1e-3, abs=1e-6, nan_ok=True), (claim, key)
            compared += 1
    assert compared
    if today:
        same_measurements(was.values, today.values)


def test_measurements_of_some_sources_are_compared() -> None:
    assert set(VALUES_COMPARED) <= set(FIRST_WITH_BOTH)


def test_a_row_that_was_recorded_under_an_earlier_name_has_its_present_name() -> None:
    row = {"loss": 1.0, "test_loss": 2.0, "accuracy": 0.5, "loss_ratio": 3.0, "test_loss_ratio": 4.0}
    (former, present), other = *Ablations.FORMERLY.items(), "original"
    found = restored(Ablations, {"rows": [[former, row], [other, row]]})
    assert list(found.rows) == [present, other]
    assert vars(found[present]) == row


def same_measurements(was: Mapping[str, object], now: Mapping[str, object]) -> None:
    renamed = {**GroupMeasurements.FORMERLY, **Ablations.FORMERLY}
    was = {renamed.get(name, name): value for name, value in was.items()}
    shared = set(was) - WITHDRAWN  # runs are published anew for measurements that were added since
    assert shared <= set(now)
    for key, value in ((key, now[key]) for key in shared):
        for shown, found in zip(
            (renamed.get(x, x) if isinstance(x, str) else x for x in flat(was[key])),
            flat(value),
            strict=key != "phases",
        ):  # which say since how coarse they are
            is_number = isinstance(found, int | float)
            assert shown == (pytest.approx(found, rel=1e-4, abs=1e-6, nan_ok=True) if is_number else found), key


def flat(value: object) -> list[object]:
    """All numbers and words in JSON, in order."""
    if isinstance(value, dict):
        return [x for entry in value.values() for x in flat(entry)]
    return [x for entry in value for x in flat(entry)] if isinstance(value, list) else [value]
