"""How well `explain` recognises networks of a known kind, and the networks of other authors.

    python benchmarks/recognition.py [--p 29 59 113 199] [--reference DIR] [--draws 99] [--doubts RUN ...] [--smallest]

Planted are networks of every kind: clocks (products of waves), pizzas (sums of embeddings whose neurons rectify them),
tables of pairs, periodic ones that do not add, unsolved and untrained ones; as they are, with noise on every weight,
with the least weights of every matrix cut off, with biases; read from weights and called as functions that hide them.
Adversaries look as if they added by circles and do not, or do so and do not look it.
Printed are two confusion tables, with interventions and by read-out, logits and neurons alone. Below are the wrong
confident verdicts, which must be none; how the key frequencies agree with those that were planted or that the authors
of the reference networks found; and the authors' own figures beside ours.

What a wrong confident verdict is follows from how a network was made, and was fixed before any was explained:

- `doubtful`, `solved, it is hidden how` and `behaviour only` are not confident, and never wrong;
- as it was made, a network is the kind that it was made as, and any other verdict is wrong;
- damaged by noise or cutting, it still is that kind while it answers 95% rightly; one that no longer does is not
  solved, or, made of waves, periodic in another way, but never a table where it was made of waves, nor the reverse;
- of networks whose kind is known and clock or pizza too, the other one of the two is wrong.

Then files of trained networks are read as they were trained, where a warning is a false one, and with other neurons or
attention under which they are right too, where one that is not told is missed: what remains is told as a remark.

The exit code is 1 where a verdict is wrong or a warning is false.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from explain import adversarial, planted  # pyright: ignore[reportMissingImports]
from misread import print_doubts
from timing import versions

from modinterp.analyses.fourier.frequencies import jaccard
from modinterp.explain import Explanation, explain
from modinterp.explain.labels import (
    BEHAVIOUR,
    DOUBTFUL,
    FOURIER,
    INTEGERS,
    MEMORISED,
    MIXED,
    PARTLY,
    PERIODIC,
    SOLVED,
    UNSOLVED,
    WAVES,
)
from modinterp.explain.subject import subject
from modinterp.explain.verdict import label_without_interventions
from modinterp.models import ForwardPass, TransformerConfig, Weights, from_state_dict, initial_weights
from modinterp.runs import TrainedRun
from modinterp.runs.store import FINAL
from modinterp.sources import load
from modinterp.tasks import Group, ModularArithmetic, Task, addition

UNSURE = {DOUBTFUL, SOLVED, BEHAVIOUR, WAVES}
REFERENCE = Path(__file__).parents[2] / "shared" / "reference"
MOSTLY_RIGHT = 0.95
LARGE = 150  # moduli above it take tens of seconds a network, and are damaged in two ways alone
Damage = Callable[[Weights], Weights]
DAMAGE: dict[str, Damage] = {
    **{f"noise of {x:.0%}": lambda w, x=x: noisy(w, x) for x in (0.02, 0.1, 0.3, 1.0)},
    **{f"the least {x:.0%} cut off": lambda w, x=x: pruned(w, x) for x in (0.1, 0.3, 0.5, 0.7)},
}
BROKEN = {UNSOLVED, PARTLY}  # the latter is a later name for those that are right on a fifth of the pairs or more
IF_BROKEN = {FOURIER: {PERIODIC, *BROKEN}, PERIODIC: {PERIODIC, *BROKEN}, MEMORISED: {MEMORISED, *BROKEN}}


@dataclass(frozen=True)
class Case:
    """A network whose kind is known.

    Attributes:
        kind: the verdict that is right.
        network: a run, a file or a function.
        said: what `explain` is told.
        damaged: whether it may no longer be what it was made as.
        freqs: its key frequencies, where they are known.
        turn: `clock` or `pizza`, where that is known.
        figures: keys of the table to what its authors give.
    """

    name: str
    kind: str
    network: Any
    said: Mapping[str, Any] = field(default_factory=dict)
    damaged: bool = False
    freqs: tuple[int, ...] = ()
    turn: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)

    def is_wrong_label(self, label: str, accuracy: float) -> bool:
        """Whether a label is a wrong confident one."""
        broken = self.damaged and accuracy < MOSTLY_RIGHT
        return label not in UNSURE | (IF_BROKEN[self.kind] if broken else {self.kind})

    def is_wrong(self, x: Explanation) -> bool:
        """Whether its explanation is a wrong confident verdict."""
        turn = x.verdict.clock_or_pizza
        other_turn = bool(self.turn) and any(kind in turn for kind in ("clock", "pizza")) and self.turn not in turn
        return self.is_wrong_label(x.verdict.label, x["accuracy"]) or other_turn


def clock_logits(p: int, freqs: tuple[int, ...], turned: bool = False) -> Tensor:
    """Logits of all pairs as sums of cos(w(a + b - c)); of a pizza, times |cos(w(a - b) / 2)|."""
    a, c = torch.arange(p, dtype=torch.float64), torch.arange(p, dtype=torch.float64)
    logits = torch.zeros(p, p, p, dtype=torch.float64)
    for k in freqs:
        w = 2 * math.pi * k / p
        size = (w * (a[:, None] - a) / 2).cos().abs() if turned else torch.ones(p, p)
        logits += size[..., None] * (w * (a[:, None, None] + a[:, None] - c)).cos()
    return 40 * logits


def noisy(weights: Weights, size: float, seed: int = 0) -> Weights:
    """The weights with noise of so much of the root mean square of each."""
    generator = torch.Generator().manual_seed(seed)
    return {
        n: w + size * w.square().mean().sqrt() * torch.randn(w.shape, generator=generator) for n, w in weights.items()
    }


def pruned(weights: Weights, share: float) -> Weights:
    """The weights with the least entries of each matrix that are not zero set to 0."""

    def kept(w: Tensor) -> Tensor:
        sizes = w.abs()[w != 0].sort().values
        return w if len(sizes) < 10 else torch.where(w.abs() < sizes[int(share * len(sizes))], 0, w)

    return {name: kept(w) for name, w in weights.items()}


def biased(weights: Weights, p: int) -> Weights:
    """The weights with a bias of every class, which no pair decides."""
    return weights | {"unembed.b_U": torch.linspace(-1, 1, p)}


def of_weights(p: int, freqs: tuple[int, ...], damages: Mapping[str, Damage] = DAMAGE) -> Iterator[Case]:
    """Networks that are written down weight by weight, and then damaged."""
    task = ModularArithmetic(p)

    def case(name: str, kind: str, weights: Weights, act_fn: str = "relu", **known: Any) -> Case:
        network = from_state_dict(weights, task, ForwardPass(act_fn))
        return Case(f"{name}, p {p}", kind, TrainedRun(name, task, network), **known)

    pizza, clock = planted.clock(p, freqs), planted.multiplier(p, freqs)
    yield case("sum of rectified waves", FOURIER, pizza, freqs=freqs, turn="pizza")
    yield case("the same with a bias", FOURIER, biased(pizza, p), freqs=freqs, turn="pizza")
    yield case("products of waves", FOURIER, clock, "square", freqs=freqs, turn="clock")
    made = {("rectified", FOURIER, "relu"): pizza, ("products", FOURIER, "square"): clock}
    halved = tuple(sorted(min(2 * k, p - 2 * k) for k in freqs))  # of the answers, whose double is a + b
    yield case("half of a + b", PERIODIC, planted.clock(p, freqs, answer=2), freqs=halved)
    yield case("a - b", DOUBTFUL, planted.clock(p, freqs, sign=-1), freqs=freqs)
    shape = TransformerConfig.of(addition(p), d_model=32, n_heads=2, d_head=16, d_mlp=64)
    yield case("untrained", UNSOLVED, initial_weights(shape, seed=1))
    if p <= 31:  # a neuron a pair
        made |= {
            ("table", MEMORISED, "relu"): planted.table(p),
            ("40%", MEMORISED, "relu"): planted.table(p, known=0.4),
        }
        yield case("table of all pairs", MEMORISED, planted.table(p))
        yield case("table of 40% of the pairs", MEMORISED, planted.table(p, known=0.4))
        yield case("table of waves", SOLVED, planted.table_of_waves(p, freqs), freqs=freqs)
        yield case("table beside idle circles", PERIODIC, planted.table_with_idle_circles(p, 4), freqs=(4,))
    for ((name, kind, act_fn), weights), (what, damage) in product(made.items(), damages.items()):
        yield case(f"{name}, {what}", kind, damage(weights), act_fn, damaged=True)


def of_logits(p: int, freqs: tuple[int, ...]) -> Iterator[Case]:
    """Functions that hide all but their answers."""
    answers = (torch.arange(p)[:, None] + torch.arange(p)) % p
    noise = torch.randn(p, p, p, generator=torch.Generator().manual_seed(0))
    every = {
        "hidden clock": (WAVES, clock_logits(p, freqs), freqs, "clock"),
        "hidden pizza": (WAVES, clock_logits(p, freqs, turned=True), freqs, "pizza"),
        "hidden clock with noise": (WAVES, clock_logits(p, freqs) + noise, freqs, "clock"),
        "hidden table": (SOLVED, 20.0 * torch.eye(p)[answers], (), ""),
        "hidden noise": (UNSOLVED, noise, (), ""),
        "hidden product": (DOUBTFUL, 20.0 * torch.eye(p)[torch.outer(torch.arange(p), torch.arange(p)) % p], (), ""),
    }
    for name, (kind, logits, known, turn) in every.items():

        def called(tokens: Tensor, logits: Tensor = logits) -> Tensor:
            return logits[tokens[:, 0], tokens[:, 1]]

        yield Case(f"{name}, p {p}", kind, called, {"op": "add", "p": p}, freqs=known, turn=turn)


def adversaries(p: int, freqs: tuple[int, ...], folder: Path) -> Iterator[Case]:
    """Networks that look as if they added by circles and do not, or do so and do not look it; see `tests/explain`."""
    said = {"op": "add", "p": p}
    looked_up = {"cosines": lambda s: adversarial.cosines(s, p, freqs), "squares": adversarial.circular_squares(p)}
    for name, logits in looked_up.items():
        yield Case(f"carry, then {name}, p {p}", INTEGERS, adversarial.carry(p, logits), said)
        yield Case(f"hidden carry, then {name}, p {p}", WAVES, adversarial.carry_of_tokens(p, logits), said)
    yield Case(f"half waves, half table, p {p}", MIXED, adversarial.half_a_table(p, freqs), said)
    decoys = tuple(k for k in range(1, p // 2) if k not in freqs and 2 * k not in freqs)[:3]
    written_down = {
        "number line": (INTEGERS, adversarial.number_line(p, freqs)),
        "dead decoys": (FOURIER, adversarial.dead_decoys(p, freqs, decoys)),  # its read-out holds frequencies of no use
    }
    for name, (kind, weights) in written_down.items():
        network = from_state_dict(weights, ModularArithmetic(p), ForwardPass())
        yield Case(f"{name}, p {p}", kind, TrainedRun(name, ModularArithmetic(p), network))
    torch.save(adversarial.gromov(p), file := folder / f"gromov-{p}.pt")
    yield Case(f"closed form of all frequencies, p {p}", FOURIER, file, {**said, "act_fn": "square"})


def group_tasks(folder: Path) -> dict[str, Task]:
    """File of a reference network to the group that it composes, as its authors number the elements."""
    i = torch.arange(118)
    (r, s), (t, u) = (i[:, None] % 59, i[:, None] // 59), (i % 59, i // 59)
    dihedral = (torch.where(s == 0, r + t, r - t) % 59 + 59 * ((s + u) % 2)).tolist()
    tasks: dict[str, Task] = {
        "groups_D59_MLP_seed4.pt": Group.of_table(dihedral, vocabularies=2, group="the dihedral group"),
        "groups_D59_T_seed3.pt": Group.of_table(dihedral, equals=True, group="the dihedral group"),
    }
    if (folder / "groups_S5_elements.txt").is_file():
        rows = [tuple(map(int, line.split())) for line in (folder / "groups_S5_elements.txt").read_text().splitlines()]
        number = {row: n for n, row in enumerate(rows)}
        table = [[number[tuple(second[x] for x in first)] for second in rows] for first in rows]
        tasks["groups_S5_MLP_seed5.pt"] = Group.of_table(table, vocabularies=2, group="S5")
    return tasks


Known = tuple[str, str, dict[str, Any], tuple[int, ...], str, dict[str, float]]
SYMMETRY, IRRELEVANCE, WRONG = "gradient_symmetricity", "distance_irrelevance", "distance_irrelevance_wrong"
RATE_0, RATE_1 = {"attention_rate": 0.0, "causal": False}, {"attention_rate": 1.0, "causal": False}
RATE_08 = {"attention_rate": 0.8041592198855598, "causal": False}
KNOWN: tuple[Known, ...] = (  # of the authors, or, losses and frequencies, measured on their formulas written out
    ("pizza_p99zdpze5l.pt", FOURIER, RATE_0, (3, 15, 17), "pizza",
     {"accuracy": 1, "loss": 1.38e-7, SYMMETRY: 0.99367, IRRELEVANCE: 0.17174}),
    ("pizza_p99zdpze5l.pt", FOURIER, {}, (3, 15, 17), "pizza", {}),
    ("pizza_l8k1hzciux.pt", FOURIER, RATE_1, (13, 16, 17, 21), "clock",
     {"accuracy": 1, "loss": 1.56e-7, SYMMETRY: 0.3336, IRRELEVANCE: 0.8483}),
    ("pizza_2k4ohj6bhd.pt", FOURIER, RATE_08, (), "",
     {"accuracy": 1, "loss": 1.62e-7, SYMMETRY: 0.7813, IRRELEVANCE: 0.7201, WRONG: 0.81956}),
    ("pizza_2k4ohj6bhd.pt", FOURIER, {}, (), "", {}),
    ("pizza_p71frej8t7.pt", FOURIER, {}, (), "pizza",
     {"accuracy": 1, "loss": 6.20e-7, SYMMETRY: 1.0, IRRELEVANCE: 0.23020}),
    ("pizza_p71frej8t7.pt", DOUBTFUL, {"op": "sub"}, (), "", {}),
    ("modular_addition_2l_mlp_model.pt", FOURIER, {}, (), "",
     {"accuracy": 1, "n_keys": 13, "logit_fve": 0.916}),
    ("modular_addition_2l_mlp_model.pt", FOURIER, {"act_fn": "square"}, (), "clock", {}),  # of ReLU neurons, in truth
    ("low_precision_mod_addition.pth", FOURIER, {}, (), "", {"accuracy": 0.99945}),
    ("groups_S5_MLP_seed5.pt", DOUBTFUL, {}, (), "", {}),
    ("groups_D59_MLP_seed4.pt", DOUBTFUL, {}, (), "", {}),
    ("groups_D59_T_seed3.pt", DOUBTFUL, {}, (), "", {}),
    ("groups_S5_MLP_seed5.pt", FOURIER, {"task": None}, (), "", {"accuracy": 1, "loss": 2.5563e-6}),
    ("groups_D59_MLP_seed4.pt", FOURIER, {"task": None}, (), "", {"accuracy": 1, "loss": 3.7436e-6}),
    ("groups_D59_T_seed3.pt", FOURIER, {"task": None}, (), "", {"accuracy": 1, "loss": 3.2751e-7}),
)  # fmt: skip


def of_others(folder: Path) -> Iterator[Case]:
    """The reference networks, with what their authors say of them."""
    groups = group_tasks(folder)
    for name, kind, said, freqs, turn, figures in KNOWN:
        if (folder / name).is_file():
            words = ", ".join(f"{key}={value:.3g}" if isinstance(value, float) else key for key, value in said.items())
            told = {"task": groups[name]} if "task" in said else said
            case = f"{name}, {words or 'nothing said'}"
            yield Case(case, kind, folder / name, told, freqs=freqs, turn=turn, figures=figures)


CHECKPOINTS = Path(__file__).parents[1] / "checkpoints"
TRAINED = (
    "mlp/kissane-0", *(f"mlp/other-draw-{seed}" for seed in range(4)), *(f"groups/a5-mlp-{seed}" for seed in (1, 2)),
    *(f"clock/no-pos-{seed}" for seed in range(3)), *(f"clock/no-relu-{seed}" for seed in range(2)), "clock/one-head-0",
    *(f"nanda/{name}-0" for name in ("mainline", "decay-3", "fraction-40", "two-layers", "p53-decay-5")),
)  # fmt: skip


def trained(names: list[str], folder: Path) -> Iterator[tuple[str, Path, dict[str, Any], Task]]:
    """Name, file, forward pass and task of the shipped runs of some names, and of the reference networks."""
    for name in names:
        run = load(name)
        known = {x: getattr(run.network.cfg, x, None) for x in ("act_fn", "attention_rate", "causal")}
        yield name, CHECKPOINTS / name / FINAL, {x: y for x, y in known.items() if y is not None}, run.task
    groups = group_tasks(folder)
    for name, kind, said, *_, figures in KNOWN:
        if (folder / name).is_file() and kind == FOURIER and figures:
            pairs = groups.get(name) or subject(folder / name).run.task
            yield name, folder / name, {x: y for x, y in said.items() if x != "task"}, pairs


def cases(moduli: list[int], folder: Path, damages: Mapping[str, Damage] = DAMAGE) -> Iterator[Case]:
    """All of them."""
    for p in moduli:
        freqs = (3, 7, 11) if p < 100 else (3, 17, 41, 52)
        of_size = dict(list(damages.items())[1::4]) if p > LARGE else damages
        yield from of_weights(p, freqs, of_size)
        yield from of_logits(p, freqs)
        if p <= LARGE:
            with TemporaryDirectory() as folder_of_files:
                yield from adversaries(p, freqs, Path(folder_of_files))
    yield from of_others(folder)


def main() -> int:
    """Print all of it; 1 where a confident verdict is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--p", type=int, nargs="*", default=[29, 59, 113, 199])
    parser.add_argument("--reference", type=Path, default=REFERENCE, help="folder of the networks of other authors")
    parser.add_argument("--draws", type=int, default=99)
    parser.add_argument("--doubts", metavar="RUN", nargs="*", default=TRAINED, help="shipped runs to read otherwise")
    parser.add_argument("--smallest", action="store_true", help="one modulus and little damage, to see that all runs")
    options = parser.parse_args()
    damages = DAMAGE
    if options.smallest:
        options.p, options.reference, damages = [23], Path("nowhere"), dict(list(DAMAGE.items())[::4])
        options.doubts = ["mlp/kissane-0"]
    print(versions())
    rows, figures = [], []
    for case in cases(options.p, options.reference, damages):
        x = explain(case.network, draws=options.draws, **case.said)
        label, off = x.verdict.label, case.is_wrong(x)
        agreement = jaccard(x.measurements.freqs, case.freqs) if case.freqs else math.nan
        before = label_without_interventions(x.measurements, x.warning)
        missed = case.is_wrong_label(before, x["accuracy"])
        rows.append((case.kind + " (damaged)" * case.damaged, label, off, agreement, before, missed))
        figures += [(case.name, key, value, x[key]) for key, value in case.figures.items()]
        note = "" if math.isnan(agreement) else f"frequencies {agreement:.2f}  "
        note += x.verdict.clock_or_pizza
        print(f"{'WRONG  ' * off:<7}{case.name:<58} {x['accuracy']:<7.2%} {label:<26} {note}".rstrip(), flush=True)
    names = ["what it is", "verdict", "wrong", "agreement", "before", "wrong before"]
    table = pd.DataFrame(rows, columns=names)
    for title, label, wrong in (("with", "verdict", "wrong"), ("without", "before", "wrong before")):
        print(f"\n{title} interventions: {int(table[wrong].sum())} wrong confident verdicts of {len(table)}")
        if len(table):
            print(pd.crosstab(table["what it is"], table[label]).to_string())
    known = table["agreement"].dropna()
    print(f"agreement of the frequencies (Jaccard), mean of {len(known)}: {known.mean():.3f}, least {known.min():.3f}")
    for name, key, value, ours in figures:
        print(f"{name:<58} {key:<28} {value:<10.6g} {ours:<10.6g} {ours - value:+.1e}")
    false_warnings = print_doubts(trained(options.doubts, options.reference))
    return int(table["wrong"].any() or false_warnings > 0)


if __name__ == "__main__":
    sys.exit(main())
