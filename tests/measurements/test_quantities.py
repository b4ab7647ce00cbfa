"""Quantities: one key and one definition each, the same by `measure` and `explain`, whatever the operation."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType

import numpy as np
import pytest
import torch
from explain import planted

import modinterp as mi
from modinterp.measurements import REGISTRY, CyclicMeasurements, NoSuchPart, Quantity, measure, quantity
from modinterp.measurements.quantity import register
from modinterp.models import MLPConfig, TransformerConfig, Weights, from_state_dict, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.tasks import Group, ModularArithmetic, Ordering, PrimeRemainders, Task
from modinterp.training import Recipe, RunSpec

P, FREQS = 31, (3, 7, 12)


def with_a_split(name: str, task: ModularArithmetic, weights: Weights) -> TrainedRun:
    """A network that is written down by hand, as one that was trained on 30% of its pairs."""
    return with_a_spec(TrainedRun(name, task, from_state_dict(weights, task)))


def multiplying() -> TrainedRun:
    """A clock that adds discrete logarithms: its tokens and outputs are those of the powers of a generator."""
    weights, powers = planted.clock(P - 1, (1, 7, 11)), [pow(3, i, P) for i in range(P - 1)]
    W_E, W_U = weights["embed.W_E"], weights["unembed.W_U"]
    embed, unembed = torch.zeros(P + 1, W_E.shape[1]), torch.zeros(W_U.shape[0], P)
    embed[powers], embed[P], unembed[:, powers] = W_E[: P - 1], W_E[P - 1], W_U
    return with_a_split("mul", ModularArithmetic(P, "mul"), weights | {"embed.W_E": embed, "unembed.W_U": unembed})


def with_a_spec(run: TrainedRun) -> TrainedRun:
    """A network as one that was trained on 30% of its inputs."""
    return replace(run, spec=RunSpec(run.task, run.network.cfg, Recipe(fraction=0.3, epochs=1)))


PLANTED = {
    "add": lambda: with_a_split("add", ModularArithmetic(P), planted.clock(P, FREQS)),
    "sub": lambda: with_a_split("sub", ModularArithmetic(P, "sub"), planted.clock(P, FREQS, sign=-1)),
    "mul": multiplying,
}


def small(task: Task) -> TrainedRun:
    """A pair MLP that was hardly trained."""
    config = MLPConfig.of(task, d_model=32, d_mlp=48)
    return TrainedRun("small", task, hooked(config, initial_weights(config, seed=3)))


def tiny(task: Task | None = None) -> TrainedRun:
    """A transformer at random."""
    task = task or ModularArithmetic(13)
    config = TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=24)
    return TrainedRun("tiny", task, hooked(config, initial_weights(config, seed=0)))


def waves_of_the_answer(run: TrainedRun) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logits in the order in which the operation adds or subtracts, answers, and the offset a + b - c of each logit.

    Written with numpy alone, from the definition of each operation.
    """
    task = run.task
    with torch.no_grad():
        logits = run.network.in_float64()(task.inputs())[:, -1].numpy().reshape(task.p, task.p, -1)
    n, order = task.p, np.arange(task.p)
    if task.op == "mul":
        generator = next(
            g for g in range(2, task.p) if len({pow(g, i, task.p) for i in range(task.p - 1)}) == task.p - 1
        )
        order, n = np.array([pow(generator, i, task.p) for i in range(task.p - 1)]), task.p - 1
    logits = logits[order][:, order][:, :, order]
    i, j, c = np.meshgrid(*[np.arange(n)] * 3, indexing="ij")
    answer = (i - j) if task.op == "sub" else (i + j)
    return logits, answer[:, :, 0] % n, (answer - c) % n


def losses(logits: np.ndarray, answers: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(axis=2, keepdims=True)
    own = np.take_along_axis(shifted, answers[:, :, None], axis=2)[:, :, 0]
    return np.log(np.exp(shifted).sum(axis=2)) - own


@pytest.mark.parametrize("op", PLANTED)
def test_measure_agrees_with_an_independent_computation(op: str) -> None:
    run = PLANTED[op]()
    m = measure(run)
    logits, answers, offset = waves_of_the_answer(run)
    n = len(logits)
    columns = [np.cos(2 * np.pi * k * offset / n) for k in m.freqs]
    design = np.stack([x.ravel() for x in columns], axis=1)
    alphas, *_ = np.linalg.lstsq(design, logits.ravel(), rcond=None)
    left = logits - (design @ alphas).reshape(logits.shape)
    assert m["logit_fve"] == pytest.approx(1 - left.var() / logits.var(), abs=1e-9)
    assert m["logit_fve"] > 0.5
    # waves of the answer, as a function of it alone, for each output
    basis = np.array([f(2 * np.pi * k * np.arange(n) / n) for k in m.freqs for f in (np.cos, np.sin)])
    q = np.linalg.qr(basis.T)[0]
    means = np.stack([logits[answers == s].mean(axis=0) for s in range(n)])
    part = (q @ (q.T @ means))[answers]
    test = measure(run).test.numpy()
    rows = {"full": logits, "without": logits - part, "alone": part + logits.mean(axis=(0, 1))}
    wanted = [losses(x, answers).reshape(-1)[test].mean() for x in rows.values()]
    assert m.test_losses == pytest.approx(wanted, rel=1e-7, abs=1e-12)
    assert m.test_losses[1] > 1 > m.test_losses[2], "without its frequencies it cannot answer, with them alone it can"


@pytest.mark.parametrize("op", PLANTED)
def test_the_operation_says_what_neurons_and_ablations_are(op: str) -> None:
    m = measure(PLANTED[op]())
    assert isinstance(m, CyclicMeasurements)
    assert len(m.freqs) == len(FREQS)
    assert m.ablations["original"].accuracy == pytest.approx(1.0)
    assert m.ablations["neurons as polynomials"].accuracy > 0.95
    assert m.ablations["neurons as waves of the answer"].accuracy > 0.95
    assert m.ablations["head 0 at its mean"].accuracy < 0.5
    assert m["restricted_accuracy"] > 0.95
    assert m["excluded_accuracy"] < 0.5
    assert m.without(frequencies=m.freqs, site="embedding").after["all"].accuracy < 0.5
    assert m.without(frequencies=m.freqs, site="logits").after["test"].accuracy < 0.5


SAME = {
    **PLANTED,
    "S4": lambda: small(Group("S4")),
    "no addition": lambda: small(ModularArithmetic(11, "squares")),
}


@pytest.mark.parametrize("name", SAME)
def test_measure_and_explain_give_the_same_numbers(name: str) -> None:
    run = SAME[name]()
    explained, m = mi.explain(run, draws=99), mi.measure(run, draws=99)
    assert type(explained.measurements) is type(m)
    mine, theirs = ({x.key: x for x in each.readings()} for each in (m, explained.measurements))
    assert list(mine) == list(theirs)
    for key, reading in mine.items():
        value, other = reading.value, theirs[key].value
        assert (value is None) == (other is None), key
        assert value is None or value == other or (math.isnan(value) and math.isnan(other)), key
        assert value is not None or reading.note, f"{key} is absent without a reason"


def test_a_number_that_is_undefined_or_absent_has_a_reason() -> None:
    tasks = (
        ModularArithmetic(13),
        ModularArithmetic(13, "sub"),
        Group("S4"),
        Ordering("sort", n=3, limit=10, size=200),
    )
    for task in tasks:
        m = measure(tiny(task), draws=20)
        silent = [x.key for x in m.readings() if (x.value is None or math.isnan(x.value)) and not x.note]
        assert not silent, task.name


def test_a_function_seen_from_outside_has_numbers_and_reasons() -> None:
    def adds(tokens: torch.Tensor) -> torch.Tensor:
        total = (tokens[:, 0] + tokens[:, 1]) % 13
        return torch.cos(2 * torch.pi * 3 * (total[:, None] - torch.arange(13)) / 13)

    m, x = mi.measure(adds, op="add", p=13), mi.explain(adds, op="add", p=13)
    assert m["accuracy"] == x["accuracy"] == 1.0
    assert m["logit_fve"] == x["logit_fve"] == pytest.approx(1.0)
    assert m.reading("neurons_explained").value is None
    with pytest.raises(NoSuchPart, match="is not known"):
        m["neurons_explained"]


def test_a_run_is_measured_by_its_name_whatever_came_with_it() -> None:
    """Without weights, as its table says, and with several questions about each pair."""
    tables, questions = mi.measure("nanda/two-layers-5"), mi.measure("miiii/p113-half-0")
    assert tables.is_recorded
    assert tables["test_accuracy"] == measure(mi.load("nanda/two-layers-5"))["test_accuracy"]
    assert tables.reading("values_accuracy_alone").value is None, "a + b has no values other than its numbers"
    assert len(questions.task.output_sizes) > 1


def definition(of: object) -> object:
    """What a function computes, alike for two functions of one text: its code, with what it encloses and was given."""
    if isinstance(of, partial):
        return definition(of.func), tuple(map(definition, of.args)), tuple(sorted(of.keywords.items(), key=str))
    if isinstance(of, FunctionType):
        return definition(of.__code__), tuple(definition(cell.cell_contents) for cell in of.__closure__ or ())
    if isinstance(of, CodeType):
        return of.co_code, of.co_names, tuple(map(definition, of.co_consts))
    return repr(of)


def test_a_key_has_one_definition_and_a_definition_one_key() -> None:
    titles = Counter(each.title for each in REGISTRY.values())
    assert not [title for title, count in titles.items() if count > 1]
    written = Counter(definition(each.of) for each in REGISTRY.values())
    assert not [names for names, count in written.items() if count > 1]
    assert definition(REGISTRY["logit_fve"].of) == definition(lambda m: m.logit_fit.explained)
    assert definition(REGISTRY["coset_means"].of) != definition(REGISTRY["coset_means_control"].of)
    with pytest.raises(ValueError, match="accuracy is already the key of a quantity"):
        register(Quantity("accuracy", "another one", "task", lambda m: 0.0, ("NetworkMeasurements",)))
    with pytest.raises(KeyError, match="did you mean 'logit_fve'"):
        quantity("logit_vfe")


def is_coarse(value: float) -> bool:
    """Whether a number is a count or a share of 13 x 13 pairs, which may be alike by chance."""
    return not math.isfinite(value) or abs(value * 169 - round(value * 169)) < 1e-6


def test_no_two_quantities_are_the_same_number() -> None:
    """On a transformer at random every two numbers that are no share of 0 or 1 differ; two names of one would not."""
    m = measure(tiny(), as_published=True)
    values = [(x.key, x.value) for x in m.readings() if x.value is not None and not is_coarse(x.value)]
    alike = [
        (a, b)
        for i, (a, x) in enumerate(values)
        for b, y in values[:i]
        if x == y
        and x not in (0, 1)
        and not float(x).is_integer()
        and {a, b} - {"p_value_gap", "p_value_energy", "p_value_logits"}
    ]
    known = {frozenset(("loss_where_wrong", "loss_where_right"))}
    assert not [pair for pair in alike if frozenset(pair) not in known]


def test_accuracy_and_loss_of_several_questions_are_their_means() -> None:
    task = PrimeRemainders(7)
    run = with_a_spec(tiny(task))
    m, logits = measure(run), run.network.in_float64()(task.inputs())[:, -1].detach().numpy()
    starts, labels = np.cumsum([0, *task.output_sizes]), task.labels().numpy()
    wanted = {"all": [], "test": []}
    for question, size in enumerate(task.output_sizes):
        own = logits[:, starts[question] : starts[question] + size]
        right, loss = own.argmax(axis=1) == labels[:, question], losses(own[None], labels[None, :, question])[0]
        for name, rows in {"all": slice(None), "test": m.split.test.numpy()}.items():
            wanted[name].append((right[rows].mean(), loss[rows].mean()))
    for name, keys in {"all": ("accuracy", "loss"), "test": ("test_accuracy", "test_loss")}.items():
        assert [m[key] for key in keys] == pytest.approx(np.mean(wanted[name], axis=0)), name
    assert m["chance_loss"] == pytest.approx(np.mean(np.log(task.output_sizes)))
    assert m["test_accuracy"] == pytest.approx(m.held_out_accuracy)
    assert len(m.is_right) == labels.size


def test_a_table_and_an_overview_list_every_quantity() -> None:
    m = measure(PLANTED["add"]())
    assert "value" in m.table().columns
    assert set(m.table()["key"]) == {each.key for each in m.quantities()}
    page = m._repr_html_()
    assert all(f"<code>{each.key}</code>" in page for each in m.quantities())
    assert page.count("<details") == len({each.stage for each in m.quantities()}) + 1
    assert all(f"<code>m.{name}" in page for name in dir(m))
    assert "<code>m.neuron()</code></td><td>View one neuron of the last layer" in page


def test_an_editor_knows_the_type_of_measurements(tmp_path: Path) -> None:
    """Pyright completes `mi.measure(run).`, and knows a group's measurements from those of numbers."""
    code = """
import modinterp as mi
from modinterp.models import Network
from modinterp.runs import TrainedRun
from modinterp.tasks import Group, Ordering

def look(network: Network) -> None:
    reveal_type(mi.measure(mi.load("nanda/mainline-0")))
    reveal_type(mi.measure(TrainedRun("mine", Group("S5"), network)))
    reveal_type(mi.measure(TrainedRun("mine", Ordering("max", 3, 9), network)))
    reveal_type(mi.measure("nanda/mainline-0").neuron(17).explained)
"""
    (tmp_path / "look.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "look.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    types = [
        line.rpartition(" is ")[2].strip('"') for line in done.stdout.splitlines() if "information: Type of" in line
    ]
    assert types == ["CyclicMeasurements", "GroupMeasurements", "OrderMeasurements", "float"], done.stdout


def test_questions_about_one_part_have_numbers_a_text_and_a_figure() -> None:
    m = mi.measure(PLANTED["add"]())
    neuron, head, circle, cut = m.neuron(5), mi.measure(tiny()).head(1), m.circle(4), m.without(neurons=[1, 2])
    assert neuron.map.shape == (P, P)
    assert neuron.w_out.shape == (P,)
    assert head.pattern.shape == (13, 13)
    assert head.explained <= 1
    assert not circle.is_key
    assert m.circle(FREQS[0]).is_key
    assert cut.table()["pairs"].tolist() == ["all", "train", "test"]
    for view in (neuron, head, circle, cut):
        assert str(view)
        assert len(view.figure().data)
    with pytest.raises(ValueError, match="between 1 and 15"):
        m.circle(16)
    with pytest.raises(ValueError, match="heads 0 to 1"):
        m.without(heads=[2])
    with pytest.raises(ValueError, match="name either"):
        m.without()


def test_a_network_without_attention_has_its_ablations() -> None:
    m = measure(small(ModularArithmetic(11)))
    assert {"original", "neurons as polynomials"} <= set(m.ablations.rows)
    assert not [name for name in m.ablations.rows if name.startswith("head")]


def test_a_group_has_heads_and_ablations_as_well() -> None:
    m = mi.measure(with_a_spec(tiny(Group("S3"))))
    head = m.head(1)
    assert head.block in {rho.name for rho in m.irreps}
    assert 0 < head.explained <= 1
    assert len(head.figure().data)
    assert head.without.ablation == m.without(heads=[1]).ablation == m.ablations["head 1 at its mean"]
    m = measure(with_a_spec(small(Group("S3"))))
    vars(m)["keys"] = m.irreps[1:]
    rows = m.ablations.rows
    assert set(rows) == {
        "original",
        *(f"key representations out of the {x}" for x in ("embedding", "neurons", "logits")),
    }
    names = [rho.name for rho in m.keys]
    assert rows["key representations out of the neurons"] == m.without(names, site="neurons").ablation


def test_circles_of_a_transformer_are_kept_with_their_measurements() -> None:
    m = measure(tiny())
    assert m.circles.planes is m.circles.planes
    other = measure(m.run)
    vars(other).update(m.taken)
    assert other.circles.planes is m.circles.planes


@pytest.mark.parametrize(("name", "shown"), [("i", "i"), ("/home/me/model.pt", "model.pt"), ("own/run-0", "own/run-0")])
def test_a_note_names_a_file_without_its_folders_and_changes_no_other_word(name: str, shown: str) -> None:
    task = ModularArithmetic(7)
    m = measure(TrainedRun(name, task, from_state_dict(planted.clock(7, (2,)), task)))
    assert m.reading("final_test_loss").note == f"the training settings of {shown} are not known"
