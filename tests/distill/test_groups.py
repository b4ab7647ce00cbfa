"""Formulas of networks on groups: planted matrices come back, other code agrees, and a table gets no formula."""

from __future__ import annotations

import json
import runpy
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from explain import planted
from torch import Tensor
from torch.nn.functional import one_hot

import modinterp
from modinterp.analyses.groups.irreps import irrep, irreps
from modinterp.distill.exported import write_program
from modinterp.formulas import Distilled
from modinterp.formulas.group_formula import GroupFormula
from modinterp.formulas.matrices import Block, Walk
from modinterp.measurements.network import NoSuchPart
from modinterp.models import MLPConfig, from_state_dict, hooked
from modinterp.runs import TrainedRun
from modinterp.tasks import Group

S4, NEURONS = Group("S4", vocabularies=2), 40


def network(of_a: Tensor, of_b: Tensor, W_L: Tensor, task: Group = S4) -> Distilled:
    """Formulas of an MLP whose neurons read functions of a and of b, `[element, neuron]`."""
    n, neurons = task.n, len(W_L)
    config = MLPConfig.of(task, d_model=2 * neurons, d_mlp=neurons, joined="concatenated")
    zero = torch.zeros(n, neurons)
    weights = {
        "embed.W_E": torch.cat([torch.cat([of_a, zero], dim=1), torch.cat([zero, of_b], dim=1)]).float(),
        "blocks.0.mlp.W_in": torch.eye(neurons).repeat(4, 1),
        "unembed.W_U": W_L.float(),
    }
    return modinterp.distill(TrainedRun("planted", task, hooked(config, weights)))


def three_vectors(name: str, task: Group = S4) -> tuple[Distilled, tuple[Tensor, Tensor, Tensor]]:
    """A network each of whose neurons has three random vectors of a representation, and these."""
    rho = irrep(task, name).matrices
    generator = torch.Generator().manual_seed(1)
    x, y, z = (torch.randn(NEURONS, rho.shape[1], generator=generator, dtype=torch.float64) for _ in range(3))
    of_a, of_b, of_c = (torch.einsum("ni,gij,nj->gn", u, rho, v) for u, v in ((x, y), (y, z), (x, z)))
    return network(of_a, of_b, of_c.T, task), (x, y, z)


@pytest.fixture(scope="module")
def standard() -> tuple[Distilled, tuple[Tensor, Tensor, Tensor]]:
    return three_vectors("standard")


def test_three_vectors_come_back(standard: tuple[Distilled, tuple[Tensor, Tensor, Tensor]]) -> None:
    d, (x, y, z) = standard
    rung = d["phases"]
    assert rung.is_faithful
    assert rung.faithfulness.kl < 1e-6
    assert rung.formula.numbers == (3 * 3 + 2) * NEURONS + 3
    (cluster,) = rung.formula.clusters
    for found, pair in zip(cluster.own(), ((x, y), (y, z)), strict=True):
        assert np.allclose(found, torch.einsum("ni,nj->nij", *pair).numpy(), atol=1e-4)  # type: ignore[arg-type]
    assert d.absent["products"].startswith("inputs of neurons are sums")
    assert "around the neurons" in d.absent["path"]
    for part in ("W_a", "W_b", "W_U", "inputs", "neurons", "W_L"):
        assert d.shares(rung)[part] == pytest.approx(1, abs=1e-4), part


def test_matrices_of_full_rank_need_more_than_vectors() -> None:
    rho = irrep(S4, "standard").matrices
    A, B, C = torch.randn(3, NEURONS, 3, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    of_a, of_b, of_c = (torch.einsum("nij,gij->gn", m, rho) for m in (A, B, C))
    d = network(of_a, of_b, of_c.T)
    assert not d["phases"].is_faithful
    assert d["waves"].is_faithful
    assert d["waves"].formula.numbers == (3 * 9 + 1) * NEURONS + 3


def test_rungs_have_more_numbers_and_no_less_of_the_network(
    standard: tuple[Distilled, tuple[Tensor, Tensor, Tensor]],
) -> None:
    d, _ = standard
    ladder = [x for x in d.rungs if x.inside and x.key not in ("phases", "compact")]
    assert [x.key for x in ladder] == ["waves", "keys", "reads"]
    for fewer, more in pairwise(ladder):
        assert more.formula.numbers >= fewer.formula.numbers
        assert d.shares(more)["inputs"] >= d.shares(fewer)["inputs"] - 1e-9
        assert d.shares(more)["W_L"] >= d.shares(fewer)["W_L"] - 1e-9
    assert d["compact"].is_faithful
    assert d["compact"].formula.numbers == d["phases"].formula.numbers, "it finds the three vectors in full matrices"


def neuron_by_neuron(data: dict, a: int, b: int) -> list[float]:
    """Logits of one pair by a loop over the neurons of the JSON, with matrices multiplied out along words."""
    n = len(data["times"][0])
    matrices = {}
    for name, block in data["blocks"].items():
        known = {data["identity"]: np.eye(len(block["generators"][0]))}
        while len(known) < n:
            for element, found in list(known.items()):
                for times, generator in zip(data["times"], block["generators"], strict=True):
                    known[times[element]] = found @ np.array(generator)
        matrices[name] = known

    def entries(name: str, matrix: np.ndarray) -> np.ndarray:
        return matrix[:, data["blocks"][name]["columns"]].flatten()

    logits, x, y, z = [0.0] * n, *(np.zeros(1) for _ in "xyz")
    for name, alpha in data["alphas"].items():
        rho = matrices[name]
        logits = [x + alpha * np.trace(rho[a] @ rho[b] @ rho[c].T) for c, x in enumerate(logits)]
    for cluster in data["clusters"]:
        rho = matrices[cluster["block"]]
        for k, u in enumerate(cluster["constant"]):
            for term, coefficients in cluster["inputs"].items():
                of, name = term.split(": ")
                left, right = (entries(name, matrices[name][g]) for g in (a, b))
                read = {"a": left, "b": right, "a, b": np.outer(left, right).flatten()}[of]
                u += float(read @ coefficients[k])
            if "vectors" in cluster:
                x, y, z = (np.array(cluster["vectors"][v][k]) for v in "xyz")
                u += x @ rho[a] @ y + y @ rho[b] @ z
            for c in range(n):
                written = sum(entries(m, matrices[m][c]) @ w[k] for m, w in cluster["outputs"].items())
                if "along" in cluster and "vectors" in cluster:
                    size = np.linalg.norm(x) * np.linalg.norm(z) * np.sign(y @ y)
                    written += cluster["along"][k] * (x @ rho[c] @ z) / size
                logits[c] += max(u, 0.0) * written
    return logits


def test_other_code_computes_each_rung_from_its_json(
    standard: tuple[Distilled, tuple[Tensor, Tensor, Tensor]],
) -> None:
    d, _ = standard
    assert "answers" in {x.key for x in d.rungs}
    for rung in d.rungs:
        data = json.loads(json.dumps(rung.to_json()))
        assert data["assumption"]
        assert data["read_from"]
        for a, b in ((0, 0), (3, 5), (22, 17)):
            expected = rung(a, b)
            assert np.allclose(neuron_by_neuron(data["formula"], a, b), expected, atol=1e-3 * np.abs(expected).max())
        again = GroupFormula.of_json(json.dumps(data["formula"]))
        assert again.numbers == rung.formula.numbers
        assert np.allclose(again.grid(), rung.formula.grid(), atol=1e-3 * np.abs(rung.formula.grid()).max())


def test_the_program_answers_as_the_rung(
    tmp_path: Path, standard: tuple[Distilled, tuple[Tensor, Tensor, Tensor]]
) -> None:
    rotations = clock_of_a_group()
    for d in (standard[0], rotations):
        for rung in d.rungs:
            module, _ = write_program(d, rung, tmp_path / f"{rung.key}.py")
            assert module.read_text().count("\n") <= 60, rung.key
            logits = runpy.run_path(str(module))["logits"]
            a, b = np.array([1, 5, 10]), np.array([0, 7, 10])
            assert np.allclose(logits(a, b), rung(a, b), atol=0.02 * np.abs(rung(a, b)).max()), rung.key


def clock_of_a_group() -> Distilled:
    """A transformer that adds mod 11 by waves, as a network on a cyclic group."""
    task = Group("C11", equals=True)
    return modinterp.distill(TrainedRun("clock", task, from_state_dict(planted.clock(11, (2, 5)), task)))


def test_rotations_are_waves() -> None:
    """Of a cyclic group representations are frequencies, and the shortest formula is that of waves, number by number."""
    d = clock_of_a_group()
    waves = modinterp.distill(from_state_dict(planted.clock(11, (2, 5)), modinterp.tasks.addition(11)), p=11)
    assert d["phases"].is_faithful
    assert waves["phases"].is_faithful
    assert np.allclose(d["phases"].formula.grid(), waves["phases"].formula.grid(), atol=1e-3)
    assert [x.freq for x in d["phases"].formula.clusters] == ["frequency 2", "frequency 5"]


def test_stages_add_up_to_the_rung(standard: tuple[Distilled, tuple[Tensor, Tensor, Tensor]]) -> None:
    d, _ = standard
    for key in ("phases", "compact"):
        table, rung = d.stages(key), d[key]
        assert table["part"].tolist()[1] == "inputs of the neurons of representation standard"
        assert table.iloc[-1]["kl so far"] == pytest.approx(rung.faithfulness.kl, abs=1e-6)
        assert table.iloc[-1]["accuracy so far"] == rung.faithfulness.accuracy
    with pytest.raises(NoSuchPart):
        d.origins()


def test_a_table_of_a_group_has_no_short_formula() -> None:
    """A neuron for each pair, on S4 and on a cyclic group: every representation is there, and none is a neuron's own."""
    a, b = torch.cartesian_prod(torch.arange(24), torch.arange(24)).T
    table = network(one_hot(a).T - 0.5, one_hot(b).T - 0.5, 20.0 * one_hot(S4.table[a, b]))
    assert "squares of representations" in table.absent["double"]
    at_random = torch.randint(24, (576,), generator=torch.Generator().manual_seed(0))
    random = network(one_hot(a).T - 0.5, one_hot(b).T - 0.5, 20.0 * one_hot(at_random, 24))
    cyclic = Group("C11", equals=True)
    other = modinterp.distill(TrainedRun("table", cyclic, from_state_dict(planted.table(11), cyclic)))
    for d in (table, random, other):
        assert d["waves"].faithfulness.accuracy < 0.5
        assert d.shortest is None
        assert "matrix elements, and these can fit any function" in d.absent["reads"]
        assert "nats" in d.absent["compact"]


def test_a_function_on_a_group_gets_characters_alone() -> None:
    task = Group("S4")
    cube = sum(30 * rho.character[task.table[task.table][:, :, task.inverses]] for rho in irreps(task)[1:3])
    d = modinterp.distill(lambda tokens: cube[tokens[:, 0], tokens[:, 1]].float(), group="S4", equals=False)  # type: ignore[index]
    assert [x.key for x in d.rungs] == ["answers"]
    assert "not visible" in d.absent["neurons"]
    assert d["answers"].faithfulness.kl < 1e-6
    assert d.shortest is None


@pytest.mark.parametrize("group", ["S4", "C7", "D5", "C3 x D4", "A5"])
def test_a_walk_gives_the_representations(group: str) -> None:
    task = Group(group)
    walk = Walk.of(task.table.numpy(), task.identity)
    assert len(walk.times) <= 3
    for rho in irreps(task):
        block = Block(rho.name, rho.matrices.numpy())
        assert np.allclose(walk.matrices(block.matrices[walk.generators]), block.matrices)
        assert block.features.shape[1] == block.rank == rho.rank
        some = np.random.default_rng(0).normal(size=(5, block.rank))
        functions = np.einsum("nij,gij->gn", block.full(some), block.matrices)
        assert np.allclose(functions, block.features @ some.T), "trace(F^T rho(g)) is the function"
        assert np.allclose(block.coefficients(functions), some)
