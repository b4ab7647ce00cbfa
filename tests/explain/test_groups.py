"""Networks over finite groups: what they do is told, of planted ones and of those of other authors."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from reference import REFERENCE
from torch import Tensor

from modinterp import runs
from modinterp.analyses.groups.characters import character_cube
from modinterp.analyses.groups.irreps import irreps
from modinterp.commands.explain import main
from modinterp.explain import explain
from modinterp.explain.drawn import figures
from modinterp.explain.labels import DOUBTFUL, FOURIER, MEMORISED, SOLVED, UNSOLVED, WAVES
from modinterp.explain.page import page
from modinterp.explain.sentences import COSETS, UNTOLD
from modinterp.measurements import GroupMeasurements
from modinterp.models import MLPConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.runs.store import write_weights
from modinterp.tasks import Group
from modinterp.tasks.group_tables import permutation
from modinterp.training import Recipe, RunSpec

S4 = Group("S4")


def answering(logits: Tensor, task: Group = S4) -> Callable[[Tensor], Tensor]:
    """A function from pairs of tokens to given logits."""
    return lambda tokens: logits.float()[tokens[:, 0], tokens[:, 1] % task.n]


def composed(*names: str, task: Group = S4) -> Tensor:
    """Logits that are a sum of characters of a b c^-1."""
    return sum((30 * character_cube(rho, task) for rho in irreps(task) if rho.name in names), torch.zeros(()))


def noise(seed: int = 0) -> Tensor:
    return torch.randn(24, 24, 24, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_a_network_of_two_representations_is_told() -> None:
    found = explain(answering(composed("standard", "sign") + 3 * noise()), group="S4", equals=False, draws=99)
    assert found.verdict.label == WAVES
    assert found.measurements.key_names == ("standard", "sign")
    assert found["formula_accuracy"] == found["restricted_accuracy"] == 1
    assert found["excluded_accuracy"] < 0.1
    assert found["logit_fve_product"] > 0.9
    assert [c.met for c in found.verdict.criteria] == [True] * 6
    assert found.to_json()["key_representations"] == ["standard", "sign"]
    assert "The representations standard, sign stand out of the logits" in found.verdict.words
    assert set(found.tables) >= {"Representations", "Nulls of the spectrum"}
    assert {key for key, _ in figures(found.measurements)} == {"similarities", "shares", "single", "nulls"}
    assert "Cosets or representations?" in page(found)


def test_pairs_by_heart_and_nothing_learned() -> None:
    chosen = torch.rand(24, 24, 1, generator=torch.Generator().manual_seed(1)) < 0.6
    table = torch.nn.functional.one_hot(S4.table, 24).double() * 30 * chosen
    by_heart = explain(answering(table), group="S4", equals=False, draws=99)
    assert by_heart.verdict.label == MEMORISED
    assert explain(answering(noise()), group="S4", equals=False, draws=99).verdict.label == UNSOLVED


def test_what_knows_pairs_that_it_never_saw_has_not_memorised(tmp_path: Path) -> None:
    """Trained on most pairs of a small group, all of whose representations it uses, so that no null tells them apart."""
    model = MLPConfig.of(S4, d_model=64, d_mlp=128, joined="concatenated")
    recipe = Recipe(epochs=2000, fraction=0.85, lr=2e-3, snapshot_every=2000)
    runs.train({"own/s4": RunSpec(S4, model, recipe, seed=0)}, tmp_path, device="cpu", progress=False)
    found = explain(runs.load("own/s4", root=tmp_path), draws=99)
    known = found.measurements.own_test_score.accuracy
    assert found["accuracy"] > 0.95
    assert known > 0.5
    assert found.verdict.label == SOLVED
    assert f"since it is right on {known:.2%} of the pairs that it was not trained on" in found.verdict.words


def test_a_whole_table_by_heart_has_no_representation_that_stands_out() -> None:
    table = 30 * torch.nn.functional.one_hot(S4.table, 24).double() + noise()
    found = explain(answering(table), group="S4", equals=False, draws=99)
    assert found.verdict.label != FOURIER
    assert found["n_keys"] == 4
    assert found["p_value_energy"] == 1


def test_untrained_networks_have_no_representations() -> None:
    task = Group("S4", vocabularies=2)
    config = MLPConfig.of(task, d_model=16, d_mlp=32, joined="concatenated", init="1/sqrt(width)")
    for seed in range(3):
        run = TrainedRun("untrained", task, hooked(config, initial_weights(config, seed)))
        found = explain(run, draws=99)
        assert found.verdict.label == UNSOLVED
        assert found.verdict.clock_or_pizza == ""


def coset_network(task: Group) -> TrainedRun:
    """Neurons that fire for pairs whose product is not in a coset of a point's stabiliser, read as which it cannot be."""
    n, points = task.n, 4
    moved = torch.zeros(n, points, dtype=torch.long)
    for g in range(n):
        for i in range(points):
            moved[g, i] = _image(task.written(g), i)
    back = moved.argsort(dim=1)
    signs = [(i, j, s) for i in range(points) for j in range(points) for s in (1, -1)]
    code = torch.tensor([0.0, 1.0, 3.0, 7.0])
    W_a = torch.stack([s * code[moved[:, i]] for i, j, s in signs], dim=1)
    W_b = torch.stack([-s * code[back[:, j]] for i, j, s in signs], dim=1)
    W_U = torch.stack([-(moved[:, i] == j).float() for i, j, s in signs])
    weights = {
        "embed.W_E": torch.cat(
            [torch.cat([W_a, torch.zeros_like(W_a)], 1), torch.cat([torch.zeros_like(W_b), W_b], 1)]
        ),
        "blocks.0.mlp.W_in": torch.eye(len(signs)).repeat(4, 1),
        "unembed.W_U": 10 * W_U,
    }
    config = MLPConfig.of(task, d_model=2 * len(signs), d_mlp=len(signs), joined="concatenated")
    return TrainedRun("cosets", task, hooked(config, weights))


def _image(written: str, point: int) -> int:
    images = permutation(written, 4)
    assert images is not None
    return images[point]


def test_a_network_of_cosets_is_right_and_told_from_representations() -> None:
    found = explain(coset_network(Group("S4", vocabularies=2)), draws=99)
    assert found.verdict.label == FOURIER
    assert found.measurements.key_names == ("standard",)
    assert found.verdict.clock_or_pizza == COSETS
    assert found["cosets_a"] == found["cosets_b"] == 1
    assert "of order 6" in found.row("cosets_a").note
    assert (found.verdict.algorithm, found["coset_means"]) == ("cosets", 1)
    assert found["coset_means_control"] < 0.5
    assert found["W_a_key_share"] < 1  # and the constant, which is trivial


def test_the_group_of_a_networks_own_answers() -> None:
    found = explain(answering(composed("standard")), op="group", p=24, equals=False, draws=99)
    assert found.verdict.label == WAVES
    assert found.measurements.task.group == "the group of the network's answers"
    assert found.measurements.key_names in (("3a",), ("3b",))
    with pytest.raises(ValueError, match="this is not the table of a group"):
        explain(answering(noise()), op="group", p=24, equals=False)


def test_elements_in_an_order_that_is_not_theirs_are_doubted() -> None:
    order = torch.randperm(24, generator=torch.Generator().manual_seed(2))
    logits = composed("standard")[order][:, order][:, :, order]
    found = explain(answering(logits), group="S4", equals=False, draws=99)
    assert found.verdict.label == DOUBTFUL
    assert "the table of a group" in found.verdict.words
    assert "S4 with its elements in another order, which --elements FILE can give" in found.verdict.words
    names = [S4.written(int(k)) for k in order]
    again = explain(answering(logits), group="S4", elements=names, equals=False, draws=99)
    assert again.measurements.key_names == ("standard",)


def test_addition_of_renamed_numbers_is_told_as_a_group() -> None:
    p, shift = 23, 5  # it answers a + b + 5: addition, once each number is called what is 5 less

    def network(tokens: Tensor) -> Tensor:
        angles = 2 * math.pi / p * ((tokens[:, 0] + tokens[:, 1] + shift)[:, None] - torch.arange(p))
        return 20 * ((3 * angles).cos() + (7 * angles).cos())

    found = explain(network, "add", p, draws=99)
    assert found.verdict.label == DOUBTFUL
    assert "all of the inputs with op='a + b + 5'" in found.verdict.words
    assert "op=group, group=answers" in found.verdict.words
    again = explain(network, "group", p, group="answers", draws=99)
    assert (again.verdict.label, again["accuracy"]) == (WAVES, 1)


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = Group("S3", vocabularies=2)
    config = MLPConfig.of(task, d_model=4, d_mlp=4, joined="concatenated")
    file = tmp_path / "network.safetensors"
    write_weights(file, initial_weights(config, 0))
    table = tmp_path / "none.csv"
    with table.open("w") as to:
        csv.writer(to).writerows([[0, 1], [1, 1]])
    for arguments, message in (
        (["--op", "group", "--group", "S4"], "not 24, the order of S4"),
        (["--op", "group", "--group", "M11"], "there is no group named 'M11'"),
        (["--op", "group", "--group", str(table)], "1 has no right inverse"),
        (["--op", "group", "--group", str(tmp_path / "nowhere.csv")], "there is no file"),
        (["--op", "mul", "--group", "S3"], "got op=mul"),
        (["--op", "add", "--elements", str(table)], "lists the elements of a group"),
        (["--op", "group", "--group", "S3", "--p", "7"], "S3 has 6 elements, which contradicts p 7"),
        (["--op", "group", "--group", "S3", "--elements", str(table)], "is not an element of S3"),
        (
            ["--op", "group", "--group", "answers"],
            "the network's own answers do not form the table of a group (this is not the table of a group",
        ),
    ):
        assert main([str(file), *arguments, "--out", str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1


PUBLISHED = {
    "groups_S5_MLP_seed5.pt": ("S5", ("standard", "(2, 2, 1)", "sign"), 0.5736, 5.602e-8, 0.9412, COSETS),
    "groups_D59_MLP_seed4.pt": (
        "D59", ("sign", *(f"frequency {k}" for k in (7, 10, 15, 17, 19, 20, 21, 29))), 0.5304, 1.978e-6, 0.9842, UNTOLD,
    ),
    "groups_D59_T_seed3.pt": ("D59", ("frequency 20", "frequency 22", "frequency 26"), 0.6751, 6.762e-6, 0.9936, UNTOLD),
}  # fmt: skip


@pytest.mark.usefixtures("numbers_when_asked")
@pytest.mark.parametrize("name", PUBLISHED)
def test_networks_of_the_authors_have_their_key_representations(name: str) -> None:
    if not (REFERENCE / name).is_file():
        pytest.skip("the reference networks are not at hand")
    group, keys, share, restricted, unembedding, cosets = PUBLISHED[name]
    lines = (REFERENCE / "groups_S5_elements.txt").read_text().split("\n") if group == "S5" else []
    found = explain(REFERENCE / name, group=group, elements=[x for x in lines if x], draws=99)
    m = found.measurements
    assert isinstance(m, GroupMeasurements)
    assert (found.verdict.label, found.verdict.clock_or_pizza, m.key_names) == (FOURIER, cosets, keys)
    assert found["logit_fve_row"] == pytest.approx(share, abs=1e-4)
    assert found["read_key_share"] == pytest.approx(unembedding, abs=5e-5)
    assert m.neurons_restricted_loss == pytest.approx(restricted, rel=5e-4)
