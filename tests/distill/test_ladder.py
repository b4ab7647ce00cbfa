"""The ladder of formulas: planted networks come back, other code agrees, and tables get no formula."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from explain import adversarial, planted
from torch import Tensor, nn

import modinterp
from modinterp import models
from modinterp.formulas import Distilled, Formula
from modinterp.formulas.baselines import KINDS
from modinterp.formulas.rung import KL, SAME
from modinterp.formulas.waves import ACTIVATIONS
from modinterp.measurements.network import NoSuchPart
from modinterp.models import Weights, from_state_dict, initial_weights
from modinterp.runs import TrainedRun
from modinterp.tasks import ModularArithmetic, addition, multiplication
from modinterp.tasks.cyclic import cyclic

P, FREQS = 23, (3, 7)
MULTIPLES = {"single": ((1, 0), (0, 1)), "first": ((1, 0),), "second": ((0, 1),), "double": ((2, 0), (0, 2)),
             "double first": ((2, 0),), "double second": ((0, 2),), "sum": ((1, 1),), "difference": ((1, -1),),
             "constant": ((0, 0),)}  # fmt: skip


def distilled(weights: Weights, p: int = P, op: str = "add") -> Distilled:
    task = ModularArithmetic(p, op)
    return modinterp.distill(from_state_dict(weights, task), op=op, p=p)


@pytest.fixture(scope="module")
def clock() -> Distilled:
    return distilled(planted.clock(P, FREQS))


def attention(head: dict, w: float, a: int, b: int) -> list[float]:
    """Attention of a head to a, to b and to the last position, by a loop over the waves of its JSON."""
    scores = [*head["offsets"], 0.0]
    for place, (x, waves) in enumerate(((a, head["first"]), (b, head.get("second", head["first"])))):
        for k, (re, im) in waves.items():
            scores[place] += re * math.cos(w * int(k) * x) - im * math.sin(w * int(k) * x)
    parts = [math.exp(score) for score in scores]
    return [part / sum(parts) for part in parts]


def logit(data: dict, a: int, b: int, c: int) -> float:
    """One logit by a plain loop over the numbers of the JSON, without numpy."""
    w, b = 2 * math.pi / data["p"], data["sign"] * b
    total = 0.0
    for k, alpha in data.get("alphas", {}).items():
        half = data.get("halves", {}).get(k, 0.0) * abs(math.cos(w * int(k) * (a - b) / 2))
        total += (alpha + half) * math.cos(w * int(k) * (a + b - c))
    for cluster in data.get("clusters", []):
        k, inputs = cluster["freq"], cluster["inputs"]
        count = len(next(iter(cluster["outputs"].values()))["amplitude"])
        for n in range(count):
            own = [inputs.get(x, inputs.get("single", {})).get("phase", [0.0] * count)[n] for x in ("first", "second")]
            u = 0.0
            if "heads" in data:
                own = [next(waves["phase"][n] for term, waves in inputs.items() if "phase" in waves)] * 2
            for term, waves in inputs.items():
                if "head" in term:
                    kind, _, number = term.rpartition(" ")
                    to_a, to_b, last = attention(data["heads"][int(number)], w, a, b)
                    size = waves["amplitude"][n]
                    phase = waves["phase"][n] if "phase" in waves else own[0]
                    mixed = to_a * math.cos(w * k * a + phase) + to_b * math.cos(w * k * b + phase)
                    u += size * {"head": mixed, "second of head": to_b, "last of head": last}[kind]
                    continue
                term, _, other = term.partition(" at ")
                read = int(other or k)
                i, j = MULTIPLES[term][0]
                phase = waves["phase"][n] if "phase" in waves else i * own[0] + j * own[1]
                u += sum(
                    waves["amplitude"][n] * math.cos(w * read * (i * a + j * b) + phase) for i, j in MULTIPLES[term]
                )
            for written, waves in cluster["outputs"].items():
                phase = waves["phase"][n] if "phase" in waves else sum(own)
                total += max(u, 0.0) * waves["amplitude"][n] * math.cos(w * int(written) * c + phase)
    for path in data.get("path", []):
        for part, wave in (("cosine", math.cos), ("sine", math.sin)):
            re, im = path[part]
            for i, j in MULTIPLES[path["term"]]:
                x = w * path["freq"] * (i * a + j * b)
                total += (re * math.cos(x) - im * math.sin(x)) * wave(w * path["freq"] * c)
    return total


@pytest.mark.parametrize("op", ["add", "sub"])
def test_other_code_computes_each_rung_from_its_json(op: str) -> None:
    d = distilled(planted.clock(P, FREQS, sign=1 if op == "add" else -1), op=op)
    assert {
        "answers",
        "distance",
        "phases",
        "waves",
        "double",
        "products",
        "path",
        "keys",
        "reads",
        "attention",
        "compact",
    } == {x.key for x in d.rungs}
    for rung in d.rungs:
        data = json.loads(json.dumps(rung.to_json()))
        assert data["assumption"]
        assert data["read_from"]
        for a, b, c in ((0, 0, 0), (3, 5, 8), (22, 1, 7), (11, 19, 2)):
            scale = max(1.0, float(np.abs(rung(a, b)).max()))
            assert logit(data["formula"], a, b, c) == pytest.approx(rung(a, b)[c], abs=2e-3 * scale), rung.key


def test_a_planted_clock_is_its_formula(clock: Distilled) -> None:
    """Four numbers a neuron: its constant, amplitude, phase, and what it writes at twice that phase."""
    rung = clock["phases"]
    assert rung.is_faithful
    assert rung.formula.numbers == 4 * 24 + 3 * 2
    assert rung.faithfulness.kl < 1e-6
    sizes = {x.freq: x.inputs["single"].amplitude for x in rung.formula.clusters}
    assert sorted(sizes) == list(FREQS)
    for amplitude in sizes.values():
        assert amplitude == pytest.approx(1, abs=1e-4)
    for name in ("inputs", "neurons", "W_L"):
        assert clock.shares(rung)[name] == pytest.approx(1, abs=1e-4), name
    assert clock.shortest is rung


def test_rungs_have_more_numbers_and_no_less_of_the_network(clock: Distilled) -> None:
    ladder = [x for x in clock.rungs if x.inside and x.key not in ("attention", "compact")]
    numbers = [x.formula.numbers for x in ladder]
    assert numbers == sorted(set(numbers))
    for fewer, more in pairwise(ladder):
        assert clock.shares(more)["inputs"] >= clock.shares(fewer)["inputs"] - 1e-9
        assert clock.shares(more)["W_L"] >= clock.shares(fewer)["W_L"] - 1e-9


def test_the_curve_ends_in_the_network_and_bits_change_nothing(clock: Distilled) -> None:
    curve = clock.curve().set_index("rung")
    assert curve.loc["network", "numbers"] == clock.numbers
    assert curve.loc["network", "kl"] == 0
    for rung in clock.rungs:
        bits = curve.loc[rung.key, "bits"] // rung.formula.numbers
        found = clock._faithfulness(rung.formula.rounded(int(bits)))
        assert found.accuracy == pytest.approx(rung.faithfulness.accuracy, abs=0.0005)
        assert abs(found.kl - rung.faithfulness.kl) <= max(0.001, 0.01 * rung.faithfulness.kl)


def test_json_restores_the_formula(clock: Distilled) -> None:
    for rung in clock.rungs:
        again = Formula.of_json(json.dumps(rung.formula.to_json()))
        assert again.numbers == rung.formula.numbers
        assert np.allclose(again.grid(), rung.formula.grid(), atol=1e-3 * np.abs(rung.formula.grid()).max())


def test_stages_add_up_to_the_rung(clock: Distilled) -> None:
    for key in ("waves", "compact"):
        table, rung = clock.stages(key), clock[key]
        parts = table.iloc[:-1]
        assert table.iloc[-1]["kl so far"] == pytest.approx(rung.faithfulness.kl, abs=1e-6)
        assert table.iloc[-1]["accuracy so far"] == rung.faithfulness.accuracy
        assert parts["effect"].sum() == pytest.approx(table.iloc[-1]["effect"])
    with pytest.raises(NoSuchPart):
        clock.stages("answers")


def test_a_neuron_that_is_broken_shows_in_its_stage(clock: Distilled) -> None:
    from dataclasses import replace

    from modinterp.formulas.stages import stages
    from modinterp.formulas.waves import Waves

    first, second = clock["waves"].formula.clusters
    single = first.inputs["single"]
    assert single.phase is not None
    turned = {"single": Waves(single.amplitude, single.phase + 1.5)}
    broken = replace(first, inputs={**first.inputs, **turned})
    table = stages(clock.m, clock.reading, replace(clock["waves"].formula, clusters=(broken, second)))  # type: ignore[arg-type]
    effects = dict(zip(table["part"], table["effect"], strict=True))
    own, other = (abs(effects[f"inputs of the neurons of frequency {k}"]) for k in (first.freq, second.freq))
    assert own > 0.01 > 1e3 * other


def test_baselines_need_more_numbers_than_the_formula(clock: Distilled) -> None:
    beaten = clock.beaten().set_index("baseline")
    assert set(beaten.index) == set(KINDS)
    assert min(beaten["factor"].tolist()) > 1
    assert clock.baselines is not None
    for kind in KINDS:
        whole = clock.baselines.at(kind, clock.numbers)  # type: ignore[arg-type]
        assert whole.faithfulness.accuracy == clock["phases"].faithfulness.accuracy
        assert whole.faithfulness.kl < 1e-6


def test_multiplication_adds_logarithms() -> None:
    """A clock over the logarithms: its formula names the numbers in the order in which they add up."""
    task = multiplication(P)
    named = cyclic(task)
    assert named is not None
    names = named.names
    weights = planted.clock(P - 1, (3, 4))
    place = torch.tensor([names.index(x) for x in range(1, P)])
    W_E = torch.zeros(P + 1, weights["embed.W_E"].shape[1])
    W_E[1:P] = weights["embed.W_E"][:-1][place]
    W_U = torch.zeros(len(weights["unembed.W_U"]), P)
    W_U[:, 1:] = weights["unembed.W_U"][:, place]
    d = distilled(weights | {"embed.W_E": W_E, "unembed.W_U": W_U}, op="mul")
    rung = d["phases"]
    assert rung.formula.names == names
    assert rung.is_faithful
    a, b = names.index(6), names.index(9)
    assert names[int(rung(a, b).argmax())] == 6 * 9 % P


ADVERSARIES: dict[str, Callable[[], Weights | Callable[[Tensor], Tensor]]] = {
    "table": lambda: planted.table(11),
    "table of waves": lambda: planted.table_of_waves(11, (2, 5)),
    "larger table of waves": lambda: planted.table_of_waves(P, (2, 5)),
    "table with idle circles": lambda: planted.table_with_idle_circles(11, 3),
    "number line": lambda: adversarial.number_line(11, (2, 5)),
    "carry, one-hot": lambda: adversarial.carry(11, lambda s: adversarial.cosines(s, 11, (2, 5))),
    "carry, squares": lambda: adversarial.carry(11, adversarial.circular_squares(11)),
    "carry, tokens": lambda: adversarial.carry_of_tokens(11, lambda s: adversarial.cosines(s, 11, (2, 5))),
    "half a table": lambda: adversarial.half_a_table(11, (2, 5)),
    "untrained": lambda: initial_weights(from_state_dict(planted.clock(11, (2,)), addition(11)).cfg, seed=0),
}


@pytest.mark.parametrize("name", list(ADVERSARIES))
def test_no_short_formula_of_what_does_not_add_waves(name: str) -> None:
    """Tables and carry adders answer as waves do; none has a faithful formula of its inside, and the reason is given."""
    network = ADVERSARIES[name]()
    p = P if name.startswith("larger") else 11
    d = distilled(network, p) if isinstance(network, dict) else modinterp.distill(network, op="add", p=p)
    assert d.shortest is None
    assert not [x for x in d.rungs if x.is_faithful]
    assert d.absent
    assert all("\n" not in why for why in d.absent.values())
    if name != "carry, tokens":  # of which nothing but logits can be seen
        faithful = [x for x in d.rungs if x.faithfulness.same >= SAME and x.faithfulness.kl <= KL]
        assert not faithful


def test_a_function_of_tokens_gets_a_statement_about_its_logits() -> None:
    d = modinterp.distill(ADVERSARIES["carry, tokens"](), op="add", p=11)  # type: ignore[arg-type]
    assert [x.key for x in d.rungs] == ["answers", "distance"]
    assert not d["answers"].inside
    assert "not visible" in d.absent["neurons"]
    assert d.beaten().empty
    assert d.curve().iloc[-1]["rung"] == "network"
    with pytest.raises(KeyError, match="not visible"):
        d["waves"]


def test_a_task_that_is_no_addition_says_so() -> None:
    d = distilled(planted.clock(P, FREQS), op="squares")
    assert not d.rungs
    assert "not an addition" in d.absent["all"]
    assert d.curve().empty


def test_a_network_of_zeros_has_no_formula_and_no_error() -> None:
    d = distilled({name: 0 * w for name, w in planted.clock(P, FREQS).items()})
    assert d.shortest is None
    assert d.absent
    assert str(d)
    d.curve(bits=False)


def test_the_page_of_an_explanation_and_of_a_comparison_has_the_ladder() -> None:
    from modinterp.compare.page import page as page_of_comparison
    from modinterp.explain.page import page

    x = modinterp.explain(from_state_dict(planted.clock(P, FREQS), addition(P)), op="add", p=P, draws=99)
    text = page(x)
    assert "How much of the network a formula explains" in text
    assert "plot-ladder" in text
    comparison = modinterp.compare({"one": x})
    assert set(comparison.formulas()["rung"]) == {"network", *(rung.key for rung in x.formulas.rungs)}
    assert "plot-ladders" in page_of_comparison(comparison)


@pytest.fixture(scope="module")
def paper(mainline: TrainedRun) -> Distilled:
    return modinterp.distill(mainline)


def test_attention_is_a_softmax_of_waves_and_neurons_read_one_frequency(paper: Distilled) -> None:
    """With the heads' attention written down, a neuron needs no products, and the formula is faithful on all pairs."""
    rung = paper["attention"]
    assert rung.is_faithful
    assert rung.faithfulness.accuracy == 1
    assert rung.faithfulness.kl < 0.001
    for cluster in rung.formula.clusters:
        assert {term.rpartition(" ")[0] for term in cluster.inputs} == {"", "head", "second of head", "last of head"}
    assert paper.shares(rung)["W_Q"] == pytest.approx(1, abs=1e-3), "the last position's query is the only one"
    assert 0.5 < paper.shares(rung)["W_K"] < 1
    assert paper.shares(paper["keys"])["W_K"] == 0


def test_the_pattern_of_each_head_is_that_of_the_network(paper: Distilled) -> None:
    data, m = json.loads(paper.to_json("attention"))["formula"], paper.m
    for a, b in ((0, 0), (3, 50), (112, 7)):
        for number, head in enumerate(data["heads"]):
            found = attention(head, 2 * math.pi / 113, a, b)
            assert found == pytest.approx(m.pattern[a, b, number].tolist(), abs=0.05)  # type: ignore[attr-defined]


def test_other_code_computes_the_rung_of_attention(paper: Distilled) -> None:
    data = json.loads(paper.to_json("attention"))
    assert set(data["read_from"]) >= {"heads", "values of heads"}
    scale = float(np.abs(paper["attention"](3, 5)).max())
    for a, b, c in ((3, 5, 8), (100, 20, 4)):
        assert logit(data["formula"], a, b, c) == pytest.approx(paper["attention"](a, b)[c], abs=0.02 * scale)


def test_heads_are_stages_of_their_own(paper: Distilled) -> None:
    table, rung = paper.stages("attention"), paper["attention"]
    assert table["part"].tolist()[1:5] == [f"attention of head {k}" for k in range(4)]
    assert table.iloc[-1]["kl so far"] == pytest.approx(rung.faithfulness.kl, abs=1e-9)
    from dataclasses import replace

    from modinterp.formulas.softmax_of_waves import Head
    from modinterp.formulas.stages import stages

    turned = Head(rung.formula.heads[0].offsets, {k: -z for k, z in rung.formula.heads[0].first.items()})  # type: ignore[union-attr]
    broken = replace(rung.formula, heads=(turned, *rung.formula.heads[1:]))  # type: ignore[union-attr]
    effects = stages(paper.m, paper.reading, broken)["effect"].tolist()  # type: ignore[arg-type]
    assert effects[1] > 0.1 > 100 * max(effects[2:5])


@pytest.mark.parametrize("key", ["attention", "compact"])
def test_numbers_in_files_have_the_digits_at_which_nothing_changes(paper: Distilled, key: str) -> None:
    rung = paper[key]
    again = Formula.of_json(json.loads(paper.to_json(key))["formula"])
    found = paper._faithfulness(again)
    assert paper.digits(rung) < 5
    assert found.accuracy == rung.faithfulness.accuracy
    assert found.kl == pytest.approx(rung.faithfulness.kl, abs=0.0002)
    assert again.numbers == rung.formula.numbers


def test_a_head_that_is_held_still_makes_no_products(paper: Distilled) -> None:
    """Attention that does not depend on the pair leaves sums of functions of a and of b: an identity."""
    table = paper.origins().set_index("held")
    assert table.loc["nothing", "products"] > 0.01
    assert table.loc["all heads", "products"] < 1e-9
    heads = [name for name in table.index if name.startswith("head")]
    assert len(heads) == 4


def test_the_mainline_network_is_a_percent_of_its_numbers(paper: Distilled) -> None:
    """The goal was set before it was measured: 99.9% of pairs and 0.01 nats at 2% of the numbers, a tenth of baselines."""
    d = paper
    best = d.shortest
    assert best is not None
    assert best.formula.numbers <= 0.02 * d.numbers
    assert best.faithfulness.accuracy >= 0.999
    assert best.faithfulness.kl <= 0.01
    assert min(d.beaten()["factor"].tolist()) >= 10
    assert d["waves"].faithfulness.accuracy < 0.6, "waves of one frequency alone are not the algorithm"


def test_a_pizza_has_the_form_of_pizzas() -> None:
    """Logits that fall with the distance of a and b come back as they were made, and are no claim on the inside."""
    a, b, c = torch.meshgrid(*[torch.arange(P)] * 3, indexing="ij")

    def pizza(tokens: Tensor) -> Tensor:
        logits = sum(
            (size + 20 * (math.pi * k * (a - b) / P).cos().abs()) * (2 * math.pi * k * (a + b - c) / P).cos()
            for k, size in ((3, 5.0), (7, 0.0))
        )
        return logits[tokens[:, 0], tokens[:, 1]]  # type: ignore[index]

    d = modinterp.distill(pizza, op="add", p=P)
    formula = d["distance"].formula
    assert isinstance(formula, Formula)
    assert formula.alphas == pytest.approx({3: 5, 7: 0}, abs=1e-4)
    assert formula.halves == pytest.approx({3: 20, 7: 20}, abs=1e-4)
    assert d["distance"].faithfulness.kl < 1e-9 < d["answers"].faithfulness.kl
    assert d.shortest is None


class Plain(nn.Module):
    """A clock as somebody else writes it, with embeddings in a row and layers of other names."""

    def __init__(self, act: Callable[[Tensor], Tensor]):
        super().__init__()
        phases = 2 * math.pi / 12 * torch.arange(12)
        turn = torch.stack([phases.cos(), -phases.sin()])
        on = torch.block_diag(turn, turn)
        c = 2 * math.pi / P * torch.arange(P)
        W_L = torch.cat([40 / 12 * (k * c + 2 * phases[:, None]).cos() for k in FREQS])
        self.numbers = nn.Embedding.from_pretrained(planted.circles(P, FREQS))
        self.hidden, self.out = nn.Linear(8, 24, bias=False), nn.Linear(24, P, bias=False)
        self.hidden.weight = nn.Parameter(torch.cat([on, on]).T)
        self.out.weight = nn.Parameter(W_L.T)
        self.act = act

    def forward(self, tokens: Tensor) -> Tensor:
        return self.out(self.act(self.hidden(self.numbers(tokens).flatten(1))))


def test_an_external_module_gets_the_formula_of_its_neurons() -> None:
    """Whether its nonlinearity is a module or a function: what neurons read is found by trying."""
    for act in (nn.ReLU(), torch.relu):
        d = modinterp.distill(Plain(act), op="add", p=P)
        assert d.reading is not None
        assert d.reading.act_fn == "relu"
        assert d["phases"].is_faithful
        assert d["phases"].formula.numbers == 4 * 24 + 3 * 2
    hidden = modinterp.distill(Plain(lambda x: x.clamp(min=0) * x.sign().clamp(min=0.5)), op="add", p=P)
    assert hidden.shortest is None or hidden.reading is not None


def test_square_neurons_of_all_frequencies(tmp_path: Path) -> None:
    """The closed form of Gromov: each neuron is one wave of a, one of b, and writes at the sum of their phases."""
    torch.save(adversarial.gromov(P, neurons=256), file := tmp_path / "gromov.pt")
    d = modinterp.distill(file, p=P, act_fn="square")
    assert d["phases"].formula.act_fn == "square"
    assert d["phases"].is_faithful
    assert not d.reading.alike  # type: ignore[union-attr]
    assert d["phases"].formula.neurons == 256
    assert logit_of_squares(d) < 1e-2


def logit_of_squares(d: Distilled) -> float:
    """Largest difference of the closed form's logits, written down once more, from those of its formula."""
    formula, logits = d["phases"].formula, 0.0
    assert isinstance(formula, Formula)
    a, b, c = np.meshgrid(*[np.arange(P)] * 3, indexing="ij")
    for cluster in formula.clusters:
        w = 2 * np.pi / P * cluster.freq
        for n in range(cluster.size):
            first, second = cluster.inputs["first"], cluster.inputs["second"]
            u = first.amplitude[n] * np.cos(w * a + first.phase[n])  # type: ignore[index]
            u = u + second.amplitude[n] * np.cos(w * b + second.phase[n])  # type: ignore[index]
            phase = first.phase[n] + second.phase[n]  # type: ignore[index]
            logits = logits + u**2 * cluster.outputs[cluster.freq].amplitude[n] * np.cos(w * c + phase)
    return float(np.abs(logits - formula.grid()).max() / np.abs(logits).max())


def test_every_nonlinearity_is_that_of_torch() -> None:
    x = np.linspace(-6, 6, 1001)
    for name, act in ACTIVATIONS.items():
        expected = models.ACTIVATIONS[name](torch.from_numpy(x)).numpy()
        assert np.abs(act(x) - expected).max() < 1e-6, name
