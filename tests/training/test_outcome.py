"""How a training ended is a value: it survives JSON, and the sentences of earlier records are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loops import check_each

from modinterp.runs import store
from modinterp.training import Outcome, OutcomeKind

SENTENCES = {
    "all 20,000 epochs are over": Outcome(OutcomeKind.EPOCHS_OVER, 20_000),
    "test loss 1e-06 or less since epoch 9,000": Outcome(OutcomeKind.TEST_LOSS_REACHED, 9_000, "1e-06"),
    "train_loss is nan at epoch 1,234, not finite": Outcome(OutcomeKind.NOT_FINITE, 1_234, "train_loss is nan"),
    "sum_of_squared_weights is inf at epoch 5, not finite": Outcome(
        OutcomeKind.NOT_FINITE, 5, "sum_of_squared_weights is inf"
    ),
}
FOLDERS = sorted(path.parent for path in store.checkpoints().rglob(store.RECORD))


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentences_and_json_give_the_same_outcome(sentence: str) -> None:
    outcome = SENTENCES[sentence]
    assert Outcome.from_json(sentence) == outcome
    assert str(outcome) == sentence
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome
    assert outcome.is_finite == ("not finite" not in sentence)


def test_nothing_is_no_outcome() -> None:
    assert Outcome.from_json("") is Outcome.from_json(None) is None


@pytest.mark.parametrize("bad", ["it is over", {"kind": "boredom", "epoch": 1, "detail": ""}, {"epoch": 1}, [1]])
def test_what_is_no_outcome_is_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="is not how a training ends|is not a valid OutcomeKind"):
        Outcome.from_json(bad)


def test_every_shipped_record_says_how_its_run_ended() -> None:
    def check(folder: Path) -> None:
        record = store.read_record(folder)
        outcome = store.recorded_outcome(record)
        if isinstance(record["ended"], str) and record["ended"]:
            assert str(outcome) == record["ended"]
        assert outcome.is_finite
        if outcome.kind is OutcomeKind.EPOCHS_OVER:
            assert outcome.epoch == record["epoch"] == record["spec"]["recipe"]["epochs"]
        else:
            assert outcome.epoch <= record["epoch"] <= record["spec"]["recipe"]["epochs"]

    check_each(FOLDERS, check, name=lambda folder: "/".join(folder.parts[-2:]))
