"""Networks that take their numbers in other ways: other tokens, orders, outputs and classes; found, or said in a text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from explain import planted
from torch import Tensor, nn

from modinterp import tasks
from modinterp.explain import explain
from modinterp.explain.labels import BEHAVIOUR, DOUBTFUL, FOURIER, WAVES
from modinterp.explain.measuring import measure
from modinterp.explain.page import page
from modinterp.models import Calling, Wrapped
from modinterp.models.call_search import best_calling
from modinterp.models.calling import likeliest_calling
from modinterp.models.token_map import TokenMap

P, FREQS = 23, (3, 7)
WEIGHTS = planted.clock(P, FREQS)


def waves(total: Tensor, p: int = P) -> Tensor:
    """Logits whose largest is at `total` mod p."""
    angles = 2 * math.pi / p * (total[..., None] - torch.arange(p))
    return 8 * ((3 * angles).cos() + (7 * angles).cos())


class Sequence(nn.Module):
    """The planted neurons for tokens in any order, of which two are numbers; every position gives logits.

    Args:
        places: positions of a, b and of the answer.
        tokens: what must stand at the other positions.
        first: token of the number 0.
        is_turned: whether positions are the first axis.
    """

    def __init__(self, places: tuple[int, int, int], tokens: dict[int, int], first: int = 0, is_turned: bool = False):
        super().__init__()
        self.places, self.tokens, self.first, self.is_turned = places, tokens, first, is_turned
        self.size = 1 + max(*places, *tokens)
        m, W_in = 4, WEIGHTS["blocks.0.mlp.W_in"]
        table = torch.randn(P + first + 4, m, generator=torch.Generator().manual_seed(0))
        table[first : first + P] = planted.circles(P, FREQS)
        self.tok = nn.Embedding.from_pretrained(table, freeze=False)
        self.fc1, self.fc2 = nn.Linear(2 * m, W_in.shape[1]), nn.Linear(W_in.shape[1], P)
        self.fc1.weight.data, self.fc1.bias.data = W_in[m : 3 * m].T.clone(), WEIGHTS["blocks.0.mlp.b_in"].clone()
        W_L = WEIGHTS["blocks.0.mlp.W_out"] @ WEIGHTS["unembed.W_U"]
        self.fc2.weight.data, self.fc2.bias.data = W_L.T.clone(), torch.zeros(P)

    def forward(self, x: Tensor) -> Tensor:
        x = x.transpose(0, 1) if self.is_turned else x
        if x.shape[1] != self.size:
            raise ValueError(f"{self.size} tokens, please")
        a, b, answer = self.places
        seen = self.tok(x)
        logits = self.fc2(self.fc1(torch.cat([seen[:, a], seen[:, b]], dim=1)).relu())
        wanted = all((x[:, i] == token).all() for i, token in self.tokens.items())
        logits = logits if wanted else logits.roll(5, dims=1)
        every = torch.stack([logits if i == answer else 0 * logits for i in range(self.size)], dim=1)
        return every.transpose(0, 1) if self.is_turned else every


SEQUENCES = {
    "a op:24 b =:23": Sequence((0, 2, 3), {1: P + 1, 3: P}),
    "a op:23 b =:25": Sequence((0, 2, 3), {1: P, 3: P + 2}),
    "BOS:23 a b": Sequence((1, 2, 2), {0: P}),
    "BOS:0 a+1 b+1 =:24": Sequence((1, 2, 3), {0: 0, 3: P + 1}, first=1),
    "a+3 b+3": Sequence((0, 1, 1), {}, first=3),
    "a op:23 b =:24 -> c at 2": Sequence((0, 2, 2), {1: P, 3: P + 1}),
    "a op:23 b =:24, positions first": Sequence((0, 2, 3), {1: P, 3: P + 1}, is_turned=True),
}


@pytest.mark.parametrize("way", SEQUENCES)
def test_the_one_way_in_which_the_answers_are_right_is_found(way: str) -> None:
    x = explain(SEQUENCES[way], "add", P, draws=99)
    assert x["accuracy"] == 1
    assert f"called with tokens {way}" in x.assumed
    assert "found among" in x.assumed
    assert x.warning is None
    assert x.verdict.label in (FOURIER, WAVES)


def test_the_inside_of_a_sequence_is_seen_in_the_order_of_the_task() -> None:
    """Interventions on the embedding need a at the first and b at the second place."""
    for way in ("a op:24 b =:23", "BOS:0 a+1 b+1 =:24", "a op:23 b =:24, positions first"):
        x = explain(SEQUENCES[way], "add", P, draws=99)
        assert (x.verdict.label, x.verdict.clock_or_pizza) == (
            FOURIER,
            "2 pizza",
        )  # as the weights are that were planted
        assert x.measurements.freqs == FREQS


@pytest.mark.parametrize("tokens", ["a op b =", "a op:24 b =", "a op:24 b =:23"])
def test_tokens_in_a_text(tokens: str) -> None:
    x = explain(SEQUENCES["a op:24 b =:23"], "add", P, tokens=tokens, draws=99)
    assert (x["accuracy"], x.verdict.label) == (1, FOURIER)
    assert "found among" not in x.assumed


def test_tokens_by_a_function() -> None:
    def mine(a: Tensor, b: Tensor) -> Tensor:
        return torch.stack([a, torch.full_like(a, P + 1), b, torch.full_like(a, P)], dim=1)

    x = explain(SEQUENCES["a op:24 b =:23"], "add", P, tokens=mine, draws=99)
    assert (x["accuracy"], x.verdict.label) == (1, WAVES)
    assert "the result of mine for the numbers" in x.assumed
    assert "=" not in x.assumed  # which stands where the function puts it, or nowhere
    assert measure(SEQUENCES["a op:24 b =:23"], op="add", p=P, tokens=mine)["accuracy"] == 1


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("a op", "must hold a and b once each"),
        ("a a b", "must hold a and b once each"),
        ("a b -> x", "cannot be read"),
        ("a b -> c at 7", "have no position 7"),
        ("", "cannot be read"),
    ],
)
def test_tokens_that_are_none_are_refused(tokens: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        explain(SEQUENCES["a op:24 b =:23"], "add", P, tokens=tokens)


def test_a_network_on_vectors_of_the_numbers_is_called_with_them() -> None:
    def wave(n: Tensor) -> Tensor:
        angles = 2 * math.pi * n[:, None] * torch.tensor([1, 3, 4]) / 11
        return torch.cat([angles.cos(), angles.sin()], dim=1)

    def network(vectors: Tensor) -> Tensor:
        (cos_a, sin_a), (cos_b, sin_b) = (vectors[:, i].chunk(2, dim=1) for i in (0, 1))
        rows = wave(torch.arange(11))
        return torch.cat([cos_a * cos_b - sin_a * sin_b, sin_a * cos_b + cos_a * sin_b], dim=1) @ rows.T * 20

    found = explain(network, op="add", p=11, tokens=lambda a, b: torch.stack([wave(a), wave(b)], dim=1))
    assert "=" not in found.assumed
    assert found.measurements["accuracy"] == 1
    assert found.verdict.label == "logits are waves of the answer"


def test_who_takes_no_known_tokens_is_asked_for_them() -> None:
    def network(x: Tensor) -> Tensor:
        if x.shape[1] != 6:
            raise ValueError("six tokens, please")
        return waves(x[:, 0] + x[:, 5])

    with pytest.raises(ValueError, match=r"six tokens, please; name the tokens of an input, such as tokens='a op b ='"):
        explain(network, "add", P)
    assert explain(network, "add", P, tokens="a x x x x b", draws=99)["accuracy"] == 1


def test_answers_that_depend_on_the_batch_are_not_taken() -> None:
    """Positions stand first, and four rows of three tokens look like four inputs."""

    def mixing(x: Tensor) -> Tensor:
        return waves(x[0].expand(len(x), -1).sum(dim=1) + x[:, 0])

    assert Wrapped(mixing, tasks.addition(P), "tokens").cfg.calling.most == 1
    with pytest.raises(ValueError, match="the answer to an input depends on the other inputs of the same batch"):
        likeliest_calling(lambda x: mixing(x) if len(x) > 1 else x, tasks.addition(P).inputs(), P, "tokens")


def hidden(x: Tensor) -> Tensor:
    tables = torch.randn(2, P, 64, generator=torch.Generator().manual_seed(0))
    return tables[0][x[:, 0]] + tables[1][x[:, 1]]


OUTPUTS: dict[str, Callable[[Tensor], Any]] = {
    "features first": lambda x: (hidden(x), waves(x[:, 0] + x[:, 1])),
    "a dict": lambda x: {"hidden": hidden(x), "out": waves(x[:, 0] + x[:, 1])},
    "a cache behind": lambda x: [waves(x[:, 0] + x[:, 1]), {"hidden": 1}],
    "classes from 1": lambda x: nn.functional.pad(waves(x[:, 0] + x[:, 1]), (1, 0), value=-20.0),
    "the first position": lambda x: torch.stack([waves(x[:, 0] + x[:, 1]), hidden(x)[:, :P], hidden(x)[:, :P]], 1),
}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_the_output_that_answers_is_found(kind: str) -> None:
    x = explain(OUTPUTS[kind], "add", P, draws=99)
    assert (x["accuracy"], x.verdict.label, x.warning) == (1, WAVES, None)


def test_what_no_softmax_sees_changes_nothing() -> None:
    noise = 7 * torch.randn(P, P, 1, generator=torch.Generator().manual_seed(0))
    kinds: dict[str, Callable[[Tensor], Tensor]] = {
        "logits": lambda x: waves(x[:, 0] + x[:, 1]),
        "log_softmax": lambda x: waves(x[:, 0] + x[:, 1]).log_softmax(dim=-1),
        "a constant of each pair": lambda x: waves(x[:, 0] + x[:, 1]) + noise[x[:, 0], x[:, 1]],
    }
    found = {kind: explain(network, "add", P, draws=99) for kind, network in kinds.items()}
    assert {x.verdict.label for x in found.values()} == {WAVES}
    values = [x["p_value_energy"] for x in found.values()]
    assert values == pytest.approx([values[0]] * 3, abs=1e-6)
    assert len({x.measurements.freqs for x in found.values()}) == 1


FORMS = {
    "2a + 3b": lambda a, b: 2 * a + 3 * b,
    "-a - b": lambda a, b: -a - b,
    "a + b + 7": lambda a, b: a + b + 7,
    "b - a": lambda a, b: b - a,
    "5a - b + 2": lambda a, b: 5 * a - b + 2,
}


@pytest.mark.parametrize("form", FORMS)
def test_linear_forms_are_named_and_explained(form: str) -> None:
    def network(one_hot: Tensor) -> Tensor:
        turn = 2 * math.pi / P * torch.arange(P, dtype=one_hot.dtype)
        u, v, w = (int(FORMS[form](a, b)) for a, b in ((1, 0), (0, 1), (0, 0)))
        logits = 0
        for k in FREQS:
            a, b = (torch.stack([(k * f * turn).cos(), (k * f * turn).sin()], 1) for f in (u - w, v - w))
            (ca, sa), (cb, sb) = (one_hot[:, 0] @ a).T, (one_hot[:, 1] @ b).T
            c, s = ca * cb - sa * sb, sa * cb + ca * sb
            answer = k * (turn - 2 * math.pi / P * w)
            logits = logits + 8 * (c[:, None] * answer.cos() + s[:, None] * answer.sin())
        return logits

    x = explain(network, "add", P, inputs="one-hot pairs", draws=99)
    assert x.verdict.label == DOUBTFUL
    assert x.warning is not None
    assert x.instead is not None
    assert x.instead[0] == f"op={form!r}"
    other = x.instead[1]
    assert other["accuracy"] == 1
    assert other.measurements.freqs == FREQS
    assert other.verdict.label == FOURIER  # its circles were turned, under the new names of a and of b
    again = explain(network, form, P, inputs="one-hot pairs", draws=99)
    assert again.verdict == other.verdict
    assert form in again.assumed
    assert f"with op={form!r}: {FOURIER}" in str(x)
    assert x.to_json()["instead"]["verdict"] == FOURIER
    assert f"<b>{FOURIER}</b>" in page(x)


SUMS = {  # of a function of each number, none of which renames both
    "a^2 + b": lambda a, b: a * a + b,
    "2a^3 - b^2 + 3": lambda a, b: 2 * a**3 - b * b + 3,
    "3a + 5": lambda a, b: 3 * a + 5 + 0 * b,
}


@pytest.mark.parametrize("form", SUMS)
def test_sums_of_functions_are_named_and_explained_by_their_logits(form: str) -> None:
    x = explain(lambda t: waves(SUMS[form](t[:, 0], t[:, 1])), "add", P, draws=99)
    assert x.verdict.label == DOUBTFUL
    assert x.instead is not None
    assert x.instead[0] == f"op={form!r}"
    other = x.instead[1]
    assert (other["accuracy"], other.verdict.label) == (1, WAVES)
    assert f"frequencies {', '.join(map(str, FREQS))}" in other.verdict.words
    assert "No activation inside the network was changed" in other.verdict.words
    assert explain(lambda t: waves(SUMS[form](t[:, 0], t[:, 1])), form, P, draws=99).verdict == other.verdict


def test_what_a_linear_form_with_a_constant_computes_is_told_in_words_that_can_be_typed() -> None:
    x = explain(lambda t: waves(3 * t[:, 0] + 5 * t[:, 1] + 2), "add", P, draws=99)
    assert x.instead is not None
    assert (x.instead[0], x.instead[1]["accuracy"]) == ("op='3a + 5b + 2'", 1)


def test_a_table_of_a_sum_of_functions_is_behaviour_only() -> None:
    """One-hot answers hold all waves, which says nothing of how they come about."""
    x = explain(lambda t: 9.0 * torch.eye(P)[(t[:, 0] ** 2 + t[:, 1]) % P], "a^2 + b", P, draws=99)
    assert (x.verdict.label, x["accuracy"]) == (BEHAVIOUR, 1)
    assert "neither addition with relabelled numbers nor a group" not in x.verdict.words


def test_an_operation_without_group_structure_is_behaviour_only() -> None:
    x = explain(lambda t: waves(t[:, 0] * t[:, 0] * t[:, 1] + t[:, 1]), "a^2b + b", P, draws=99)
    assert (x.verdict.label, x["accuracy"]) == (BEHAVIOUR, 1)
    assert "neither addition with relabelled numbers nor a group" in x.verdict.words


def test_the_sum_of_three_can_be_written_down() -> None:
    x = explain(lambda t: waves(t[:, :3].sum(dim=1), 17), "a + b + c", 17, draws=99)
    assert (x.verdict.label, x["accuracy"]) == (WAVES, 1)


def test_a_form_of_a_file_is_explained_by_its_inside(tmp_path: Any) -> None:
    """Rows of the embedding in another order: 3a + 3b, and the answer renamed."""
    weights = {name: w.clone() for name, w in WEIGHTS.items()}
    weights["embed.W_E"][:P] = WEIGHTS["embed.W_E"][torch.arange(P) * 3 % P]
    torch.save(weights, tmp_path / "network.pt")
    x = explain(tmp_path / "network.pt", "3a + 3b", P, draws=99)
    assert (x["accuracy"], x.verdict.label, x.verdict.clock_or_pizza) == (1, FOURIER, "2 pizza")
    assert explain(weights, "3a + 3b", P, draws=99).verdict == x.verdict


def test_the_split_of_a_form_is_renamed_with_its_numbers() -> None:
    train = torch.arange(0, P * P, 3)
    network: Callable[[Tensor], Tensor] = lambda x: torch.where(  # noqa: E731
        ((x[:, 0] * P + x[:, 1]) % 3 == 0)[:, None], waves(2 * x[:, 0] + 3 * x[:, 1]), 0.0
    )
    x = explain(network, "2a + 3b", P, train=train, draws=99)
    assert x.measurements.own_train_score.accuracy == 1
    assert x.measurements.own_test_score.accuracy < 0.2


def test_a_factor_without_an_inverse_is_refused() -> None:
    with pytest.raises(ValueError, match="2a does not relabel a mod 10, since 2 has no inverse mod 10"):
        explain(lambda x: waves(2 * x[:, 0] + x[:, 1], 10), "2a + b", 10)
    with pytest.raises(ValueError, match="unknown operation 'a & b'"):
        explain(lambda x: waves(x[:, 0]), "a & b", P)


@pytest.mark.parametrize("kind", ["with =", "three tokens", "three arguments"])
def test_three_numbers(kind: str) -> None:
    p = 11

    def logits(total: Tensor) -> Tensor:
        angles = 2 * math.pi / p * (total[:, None] - torch.arange(p))
        return 8 * (angles.cos() + (3 * angles).cos())

    def three(x: Tensor) -> Tensor:
        if x.shape[1] != 3:
            raise ValueError("three numbers, please")
        return logits(x.sum(dim=1))

    networks: dict[str, Callable[..., Tensor]] = {
        "with =": lambda x: logits(x[:, :3].sum(dim=1)),
        "three tokens": three,
        "three arguments": lambda a, b, c: logits(a + b + c),
    }
    x = explain(networks[kind], "add3", p, draws=99)
    assert x.verdict.label == WAVES
    assert "frequencies 1, 3;" in x.verdict.words
    table = torch.randn(p, p, p, p, generator=torch.Generator().manual_seed(0))
    numbers = torch.cartesian_prod(*[torch.arange(p)] * 3)
    table[(*numbers.T, numbers.sum(dim=1) % p)] += 20  # right by heart, without a wave
    by_heart = explain(lambda x: table[x[:, 0], x[:, 1], x[:, 2]] ** 3, "add3", p, draws=99)
    assert by_heart["accuracy"] == 1
    assert by_heart.verdict.label in (WAVES, BEHAVIOUR)


def test_nothing_is_found_in_a_network_of_chance() -> None:
    logits = torch.randn(P + 4, P + 4, P, generator=torch.Generator().manual_seed(0))
    task = tasks.addition(P)
    network: Callable[[Tensor], Tensor] = lambda x: logits[x[:, 0], x[:, -1]]  # noqa: E731
    assert best_calling(network, task.inputs(), [task.labels()[:, 0]], P, Calling()) is None


def test_a_map_of_tokens_says_itself() -> None:
    for text in ("a op:30 b =:29", "a+1 b+1 -> c+1", "a b =:29 PAD:30 -> c at 2", "b a"):
        assert str(TokenMap.of(text, 29)) == text
    assert TokenMap.of("a op b =", 29) == TokenMap.of("a op:30 b =:29", 29)
    assert TokenMap.of("BOS a b =", 29).order == (1, 2, 0, 3)
    assert TokenMap.of("b a", 29).order is None
