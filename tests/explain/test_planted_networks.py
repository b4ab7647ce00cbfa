"""Networks of a known kind are recognised, and the numbers are what was planted."""

from __future__ import annotations

import math

import pandas as pd
import pytest
import torch
from explain import planted

from modinterp.explain import Explanation, explain
from modinterp.explain.labels import DOUBTFUL, FOURIER, MEMORISED, PERIODIC, SOLVED, UNSOLVED
from modinterp.explain.page import page
from modinterp.measurements import NoSuchPart, quantity
from modinterp.models import (
    ForwardPass,
    MLPConfig,
    PairMLP,
    TransformerConfig,
    Weights,
    from_state_dict,
    initial_weights,
)
from modinterp.runs import TrainedRun
from modinterp.tasks import ModularArithmetic, addition, subtraction

P = 23


def explanation_of(weights: Weights, task: ModularArithmetic, draws: int = 99, act_fn: str = "relu") -> Explanation:
    """The explanation of a network that consists of these weights."""
    return explain(TrainedRun("planted", task, from_state_dict(weights, task, ForwardPass(act_fn))), draws=draws)


def random_weights(task: ModularArithmetic) -> Weights:
    return initial_weights(TransformerConfig.of(task, d_model=32, n_heads=2, d_head=16, d_mlp=64), seed=1)


PLANTED: dict[str, tuple[str, ModularArithmetic, Weights]] = {
    "clock, a + b": (FOURIER, addition(P), planted.clock(P, (3, 7, 10))),
    "clock, a - b": (FOURIER, subtraction(P), planted.clock(P, (3, 7, 10), sign=-1)),
    "clock, one frequency": (FOURIER, addition(P), planted.clock(P, (5,), size=400)),
    "clock, even p": (FOURIER, addition(30), planted.clock(30, (1, 7, 11))),
    "table of all pairs": (MEMORISED, addition(P), planted.table(P)),
    "table of all pairs, a - b": (MEMORISED, subtraction(P), planted.table(P, sign=-1)),
    "table of 40% of the pairs": (MEMORISED, addition(P), planted.table(P, known=0.4)),
    "table with few idle circles": (MEMORISED, addition(P), planted.table_with_idle_circles(P, 4, size=300.0)),
    "random": (UNSOLVED, addition(P), random_weights(addition(P))),
    "random, a - b": (UNSOLVED, subtraction(P), random_weights(subtraction(P))),
    "a - b for a + b": (DOUBTFUL, addition(P), planted.clock(P, (3, 7, 10), sign=-1)),
    "half of a + b": (DOUBTFUL, addition(P), planted.clock(P, (3, 7, 10), answer=2)),
    "table of waves": (SOLVED, addition(P), planted.table_of_waves(P, (3, 7, 10))),
    "table with idle circles": (PERIODIC, addition(P), planted.table_with_idle_circles(P, 4)),
}


@pytest.fixture(scope="module")
def explanations() -> dict[str, Explanation]:
    """Explanations of all planted networks, by name."""
    return {name: explanation_of(weights, task) for name, (_, task, weights) in PLANTED.items()}


def test_every_kind_is_recognised(explanations: dict[str, Explanation], capsys: pytest.CaptureFixture) -> None:
    kinds = pd.Series({name: kind for name, (kind, *_) in PLANTED.items()}, name="planted")
    labels = pd.Series({name: x.verdict.label for name, x in explanations.items()}, name="verdict")
    with capsys.disabled():
        print(f"\n{pd.crosstab(kinds, labels).to_string()}")
    assert labels.to_dict() == kinds.to_dict()


@pytest.mark.parametrize("name", [n for n, (kind, *_) in PLANTED.items() if kind == FOURIER])
def test_a_clock_gives_back_its_frequencies(explanations: dict[str, Explanation], name: str) -> None:
    x = explanations[name]
    freqs = {"clock, one frequency": (5,), "clock, even p": (1, 7, 11)}.get(name, (3, 7, 10))
    assert x.measurements.freqs == freqs
    assert x["accuracy"] == x["restricted_accuracy"] == x["formula_accuracy"] == 1
    assert x["key_energy"] == pytest.approx(1)
    assert x["W_E_key_share"] == pytest.approx(1)
    assert x["p_value_energy"] == pytest.approx(1 / 100)
    assert x["agreement_neurons"] == x["agreement_logits"] == 1
    assert x["neurons_explained"] == 1
    assert x["excluded_loss"] > 10 * x["loss"]
    assert x["loss_without_one_key"] > x["loss_without_one_other"] or len(freqs) == 1


def test_a_clock_of_relus_adds_as_a_pizza(explanations: dict[str, Explanation]) -> None:
    """relu(cos(wa + x) + cos(wb + x)) is as large as |cos(w(a - b) / 2)|, the length of the mean of two points."""
    x = explanations["clock, one frequency"]
    assert x["distance_irrelevance"] < 0.1
    assert (x.verdict.clock_or_pizza, x.verdict.algorithm) == ("1 pizza", "pizza")
    distance = torch.arange(P)
    size = (math.pi * 5 * distance / P).cos().abs()
    correct = x.measurements.logits[(distance) % P, 0, distance]  # b = 0, a = distance
    assert torch.corrcoef(torch.stack([size.double(), correct]))[0, 1] > 0.99


def test_a_clock_of_squares_multiplies() -> None:
    x = explanation_of(planted.multiplier(P, (3, 7)), addition(P), 99, "square")
    assert x.verdict.label == FOURIER
    assert x.measurements.freqs == (3, 7)
    assert x["products_after"] == pytest.approx(0.8)  # of (x + y)^2, 2xy varies by 1, x^2 and y^2 by 1/8 each
    assert x["logit_fve"] == pytest.approx(1)
    assert (x.verdict.clock_or_pizza, x.verdict.algorithm) == ("2 clock", "clock")


@pytest.mark.parametrize("p", [29, 59])
def test_a_broken_adder_is_not_called_a_table(p: int) -> None:
    """Half of all weights are cut off, so that few answers are right, which chance has to be taken from."""
    broken = {}
    for name, w in planted.clock(p, (3, 7, 11)).items():
        sizes = w.abs()[w != 0]
        broken[name] = torch.where(w.abs() < sizes.quantile(0.5), 0, w) if len(sizes) >= 10 else w
    x = explanation_of(broken, addition(p), 99)
    assert x["accuracy"] < 0.1
    assert x.verdict.label in (PERIODIC, UNSOLVED)


def test_where_an_earlier_layer_does_the_work_the_last_is_not_asked() -> None:
    weights = planted.clock(P, (3, 7))
    idle = {n.replace("blocks.0", "blocks.1"): 0 * w for n, w in weights.items() if n.startswith("blocks.0")}
    x = explanation_of(weights | idle, addition(P), 99)
    assert x["accuracy"] == 1
    assert x.measurements.readout_name == "the logits"
    assert (x.verdict.label, x.measurements.freqs) == (FOURIER, (3, 7))
    every = planted.table(23)
    idle = {n.replace("blocks.0", "blocks.1"): 0 * w for n, w in every.items() if n.startswith("blocks.0")}
    assert explanation_of(every | idle, addition(23), 99).verdict.label == SOLVED


def test_a_random_network_is_like_its_nulls(explanations: dict[str, Explanation]) -> None:
    x = explanations["random"]
    assert x["p_value_energy"] > 0.01
    assert x["p_value_logits"] > 0.05
    assert abs(x["accuracy"] - 1 / P) < 5 * math.sqrt(1 / P**3)
    assert x.verdict.clock_or_pizza == ""


def test_a_table_is_right_without_its_strongest_frequencies(explanations: dict[str, Explanation]) -> None:
    x = explanations["table of all pairs"]
    assert x["accuracy"] == x["excluded_accuracy"] == 1
    assert x["neurons_explained"] == 0
    assert x["p_value_energy"] > 0.1
    assert x["logit_fve"] == pytest.approx(len(x.measurements.freqs) / (P // 2))  # every frequency counts the same
    some = explanations["table of 40% of the pairs"]
    assert some["accuracy"] == pytest.approx(0.4 + 0.6 / P, abs=0.03)
    assert some["loss_where_wrong"] == pytest.approx(math.log(P), abs=0.01)
    assert "stores pairs" in some.verdict.words


def test_a_decoy_does_not_pass_for_an_adder(explanations: dict[str, Explanation]) -> None:
    idle = explanations["table with idle circles"]
    assert idle["accuracy"] == 1
    assert idle.measurements.freqs == (4,)
    assert idle["p_value_energy"] == pytest.approx(1 / 100)
    assert idle["excluded_accuracy"] == 1
    assert "accuracy without the key frequencies over the accuracy" in idle.verdict.words
    assert explanations["a - b for a + b"]["accuracy"] < 0.1


def test_a_table_of_waves_does_not_pass_for_an_adder(explanations: dict[str, Explanation]) -> None:
    x = explanations["table of waves"]
    assert x["accuracy"] == x["restricted_accuracy"] == 1
    assert x["logit_fve"] == pytest.approx(1)
    assert x.measurements.freqs == (3, 7, 10)
    assert [c.key for c in x.verdict.criteria if not c.met] == ["neurons_at_keys"]
    assert "table with such logits would give the same numbers" in x.verdict.words


def test_verdict_rests_on_the_criteria_that_it_shows(explanations: dict[str, Explanation]) -> None:
    for name, x in explanations.items():
        foretold = [c for c in x.verdict.criteria if quantity(c.key).stage == "causal"]
        assert (x.verdict.label in (FOURIER, MEMORISED)) == bool(foretold) == bool(x.verdict.algorithm), name
        assert all(c.met for c in foretold), name
        assert len(x.verdict.table()) == len(foretold) + 7 - x.measurements.is_output_only, name
        assert f"{x['accuracy']:.2%}" in x.verdict.words


SMALL = {"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 24}
SHAPES: dict[str, tuple[ModularArithmetic, dict]] = {
    "attention alone": (addition(7), {"d_mlp": None}),
    "two layers": (addition(7), {"n_layers": 2}),
    "two layers of attention alone": (subtraction(7), {"n_layers": 2, "d_mlp": None}),
    "gelu": (addition(7), {"act_fn": "gelu"}),
    "no nonlinearity": (addition(7), {"act_fn": "none"}),
    "no positions": (addition(7), {"positional": False}),
    "no =": (ModularArithmetic(7, equals=False), {}),
    "all biases": (subtraction(7), {"attn_biases": True, "unembed_bias": True}),
    "no biases": (addition(7), {"mlp_biases": False}),
    "one neuron": (addition(7), {"d_mlp": 1}),
    **{f"p = {p}": (addition(p), {}) for p in (2, 3, 4, 6, 8)},
}


@pytest.mark.parametrize("name", SHAPES)
def test_any_shape_is_explained_as_far_as_it_goes(name: str) -> None:
    task, shape = SHAPES[name]
    weights = initial_weights(TransformerConfig.of(task, **SMALL | shape), 0)
    x = explanation_of(weights, task, 99, shape.get("act_fn", "relu"))
    assert x.verdict.label != FOURIER
    absent = x.table().loc[lambda t: t["note"].str.startswith("absent")]
    turning = absent.loc[[quantity(key).stage == "causal" for key in absent["key"]]]
    assert turning["note"].str.contains("no small set of circles to rotate|is not a sum of a function").all(), turning[
        "note"
    ].tolist()
    missing = {key for key in absent["key"] if quantity(key).stage not in ("causal", "training")}
    unknown = {"train_accuracy", "train_loss", "test_accuracy", "test_loss", "excluded_loss_train"}
    if "alone" in name:
        assert missing >= unknown | {"neurons_explained", "products_before", "products_after", "agreement_neurons"}
        assert x.measurements.readout_name == "W_U"
    else:
        assert missing <= unknown | {"read_residual", "loss_without_one_other"}
    assert x.verdict.label in page(x)


def test_a_pair_mlp_is_explained() -> None:
    task = ModularArithmetic(P, equals=False)
    config = MLPConfig.of(task, d_model=16, d_mlp=32)
    x = explain(TrainedRun("mlp", task, PairMLP(config, initial_weights(config, 0))), draws=99)
    assert x["gradient_symmetricity"] == pytest.approx(1)
    with pytest.raises(NoSuchPart, match="no attention_fve: the network has no attention"):
        x["attention_fve"]
    with pytest.raises(KeyError, match="no number 'acuracy'; did you mean 'accuracy'"):
        x["acuracy"]
