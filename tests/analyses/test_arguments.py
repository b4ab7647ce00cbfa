"""Every public analysis takes what it asks for, and refuses anything else with a ValueError that names it."""

from __future__ import annotations

import ast
import copy
import inspect
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import FunctionType
from typing import Any, get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest
import torch
from jaxtyping import Float

from modinterp import activations, analyses
from modinterp.activations import spectra
from modinterp.analyses.attention import heads
from modinterp.analyses.checked import checked
from modinterp.analyses.circles import circle, isolation, rotation
from modinterp.analyses.fourier import marginals, neurons, transforms
from modinterp.analyses.fourier.logit_sums import logit_sums
from modinterp.analyses.groups.irreps import Irrep, irreps
from modinterp.analyses.order import lookups
from modinterp.analyses.statistics import lines
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.tasks import Group, Ordering, addition

P = 7
SIZES = {"a": P, "b": P, "output": P, "input": P * P, "1": 1, "2": 2, "n": 3, "pos": 3, "key": 3, "query": 3, "head": 2,
         "component": P, "component_a": P, "component_b": P, "freq": P // 2, "freq_a": P, "freq_b": 4, "order": 6, "*rest": 2,
         "*input": P * P, "other": 4, "#pair": 5, "pair": 5, "token": P, "d_model": 8, "neuron": 6, "element": P, "irrep": 4}  # fmt: skip
TASK, ORDER = addition(P), Ordering("max", n=3, limit=P, size=20)
GROUP = Group(f"C{P}")
OF_KIND: dict[Any, Any] = {Group: GROUP, Irrep: irreps(GROUP)[1], Sequence[Irrep]: irreps(GROUP)}

pytestmark = pytest.mark.usefixtures("as_for_users")


def public() -> dict[str, FunctionType]:
    names = [found.name for found in walk_packages(analyses.__path__, "modinterp.analyses.")]
    modules = [import_module(name) for name in names if not name.endswith((".checked", ".meanings", ".printing"))]
    return {
        f"{module.__name__.removeprefix('modinterp.analyses.')}.{name}": x
        for module in modules
        for name, x in vars(module).items()
        if callable(x) and not isinstance(x, type) and not name.startswith("_") and x.__module__ == module.__name__
    }


ANALYSES = public()
LEAST_NETWORKS, LEAST_TENSORS = 15, 211  # how many cases a loop has at least


@cache
def network(task: Any = TASK) -> Any:
    config = TransformerConfig.of(task, d_model=8, n_heads=2, d_head=4, d_mlp=6)
    return hooked(config, initial_weights(config, 0))


@cache
def two_layers() -> Any:
    config = TransformerConfig.of(TASK, n_layers=2, d_model=8, n_heads=2, d_head=4, d_mlp=None)
    return hooked(config, initial_weights(config, 0))


@cache
def attention_alone() -> Any:
    config = TransformerConfig.of(TASK, d_model=8, n_heads=2, d_head=4, d_mlp=None)
    return hooked(config, initial_weights(config, 0))


def tensor(kind: Any) -> torch.Tensor:
    shape = [SIZES.get(name, 5) for name in kind.dim_str.split()]
    generator = torch.Generator().manual_seed(0)
    return {
        "Float": lambda: torch.rand(shape, generator=generator) + 0.1,
        "Int": lambda: torch.randint(0, 5, shape, generator=generator),
        "Bool": lambda: torch.rand(shape, generator=generator) > 0.5,
    }[kind.__name__.partition("[")[0]]()


def table() -> pd.DataFrame:
    names = ["train_loss", "test_loss", "train_accuracy", "test_accuracy", "excluded_loss_train",
             *(f"{split}_accuracy_mod_{q}" for split in ("train", "test") for q in (2, 3))]  # fmt: skip
    falling = np.linspace(0.2, 1, 20)
    return pd.DataFrame({"epoch": range(20)} | {name: falling if "accuracy" in name else 2 - falling for name in names})


@cache
def special() -> dict[str, Any]:
    """Arguments by name, or by name of the analysis and of the argument, whose annotation does not say enough."""
    grid = activations.activations(network(), TASK)
    query = lookups.lookups(network(ORDER)).query_position(3, P)
    fits = neurons.neuron_fits(grid["blocks.0.mlp.hook_post"].double())
    tables = heads.lookup_tables(network(), P)
    curve = pd.Series(np.linspace(4.0, 1.0, 20))
    points = torch.rand(P, P, 2)
    return {
        "p": P, "q": 2, "equals": P, "freq": 2, "freqs": [1, 2], "count": 3, "draws": 3, "sign": 1, "seed": 1, "n": 3,
        "resampling.e_value_bound.harmed": 2, "resampling.e_value_bound.spared": 1,
        "a": 2, "b": 3, "grid": grid, "network": network(), "model": network(), "task": TASK, "split": TASK.split(0.5, 0),
        "labels": TASK.labels(), "train": torch.arange(20), "test": torch.arange(20, 49), "rows": torch.arange(9),
        "names": torch.randperm(P), "shuffle": torch.randperm(6), "query": query, "fits": fits, "fit":
        heads.linear_sigmoid(tables, grid["blocks.0.attn.hook_pattern"]), "tables": tables, "history": table(),
        "progress": table(), "table": table(), "column": "test_loss", "outputs": ["mod_2", "mod_3"], "epoch": 3.0,
        "start": 2.0, "end": 9.0, "epochs": pd.Series(range(20)), "loss": curve, "condition": curve < 3, "box":
        ((6, 6), (0, 2), (0, 2)), "interval": (0, 2), "clusters": {1: [0, 2]}, "config": network().cfg, "boxes": 9,
        "networks": [(0, network())], "other": network(), "at_start": None, "name": "a null", "observed": {"x": 1.0}, "limit": P,
        "planes": {1: torch.rand(8, 2)}, "attention": [1, 2], "first": [1, 2], "second": [2], "first_number": 0,
        "score_lines": lines.lines(query.scores[:3, :P].mean(dim=0)), "edges": (0, 1, 3), "times": [1.0, float("inf")],
        "divisors": [2, 3], "most": 9, "terms": "sums", "within": 3.0, "original": None, "residues": P, "d_model": 8,
        "draws_of": [{"x": 0.5}], "motions": {"x": rotation.motion(points, 2)}, "low": 1e-3, "high": 1e-2, "steps": 4,
        "by_freq": circle.circles(torch.rand(P, 5), [1, 2]), "gap": torch.arange(49), "n_classes": P, "rank": 1, "degree": 1,
        "values": torch.rand(49), "y": torch.rand(49), "part": torch.rand(4), "whole": torch.rand(9),
        "irreps.irrep.name": "frequency 3", "nulls.nulls_by_statistic.draws": [{"x": 0.5}], "petals.petal_frequencies.attention": 2,
        "petals.petal_fits.fits": [], "lines.lines.first": 0, "lines.polynomial_explained.first": 0, "copying.pairs.first": 1,
        "largest_number.gaps.numbers": torch.randint(0, P, (49, 3)), "bounds.accuracy_bound.task": ORDER,
        "bounds.accuracy_bound.network": network(ORDER), "lookups.lookups.network": network(ORDER),
        "similarity.relative_difference.v": torch.rand(4), "similarity.relative_difference.w": torch.rand(4),
        "lines.correlation.x": torch.rand(4), "lines.correlation.y": torch.rand(4), "explained.fraction_explained.fit":
        torch.rand(49), "sparsity.gini.x": torch.rand(7), "curves.rank_correlation.x": [1.0, 2.0, 3.0],
        "curves.rank_correlation.y": [1.0, 2.0, 4.0], "petals.petal_frequencies.embedding": 1, "petals.share_at.freqs": {0, 1},
        "bounds.gap_threshold_share.gap": 2, "primality.zero_free_numbers.p": 5, "primality.commutative_share.p": 5,
        "primality.primality_test.numbers": torch.arange(49), "primality.primality_test.p": 5,
        "petals.petal_fits_table.fits": [],
        "generalisation.output_curves.column": "test_accuracy", "copying.tolerance.copies": query.copies(3),
        "copying.tolerance.start": query.start[None].expand(5, -1), "copying.tolerance.both": torch.randint(0, P, (5, 2)),
        "neuron_spectra.logged_norms.log": spectra.spectra(network(), TASK, 0),
        "cosine_sums.fit_of_sums.found": logit_sums(torch.rand(P, P, P)),
        "cosine_shares.share_of_cosines.found": logit_sums(torch.rand(P, P, P)), "neurons.fits_of.found": marginals.marginals(
        torch.rand(P, P, 6)), "neurons.term_shares_of.found": marginals.marginals(torch.rand(P, P, 6)),
        "neurons.shares_of_all.found": marginals.marginals(torch.rand(P, P, 6)),
        "nulls.logit_nulls.pairs": torch.arange(P * P), "formula": "pizza", "pairs": [1], "circles": isolation.component_circles(torch.rand(P, 5)),
        "petals.petal_fits.values": torch.rand(2, P, 5), "turn": 6.0, "sorting.rank_attention.pattern": torch.rand(49, 2, 6, 6),
        "explained.fraction_explained_by_column.y": torch.rand(49, 5), "explained.fraction_explained_by_column.fit":
        torch.rand(49, 5), "shape": (2, 1), "matrices": [torch.rand(rho.dim, rho.dim) for rho in irreps(GROUP)],
        "side": "left", "subgroup": frozenset({0}), "irrep_nulls.separation.irreps":
        irreps(GROUP), "decomposition.regular_decomposition.table": GROUP.table, "explained.affine_fit.y": torch.rand(49, 3),
        "coset_means.shuffled.partitions": [torch.arange(P)], "coset_means.coset_means.first": [torch.arange(P)] * 5,
        "coset_means.coset_means.second": [torch.arange(P)] * 5,
        "answers.answers.positions": (0, 1, 2, 1, 0), "circuits.is_copied.tables": torch.rand(2, P, P), "circuits.owners.tables":
        torch.rand(2, P, P), "attribution.attribution_by_source.model": attention_alone(),
        "circuits.composed_copying.model": two_layers(),
        "attribution.attribution_by_source.asking": torch.randint(0, 3, (49,)),
    }  # fmt: skip


def arguments(name: str) -> dict[str, Any]:
    """What an analysis takes."""
    given, known = {}, special()
    for key, kind in get_type_hints(ANALYSES[name]).items():
        short = ".".join(name.split(".")[-2:])
        if key == "return":
            continue
        if f"{short}.{key}" in known:
            given[key] = known[f"{short}.{key}"]
        elif hasattr(kind, "dim_str") and key not in ("labels", "train", "test", "rows", "names", "shuffle", "tables"):
            given[key] = tensor(kind)
        elif kind in OF_KIND:
            given[key] = OF_KIND[kind]
        elif key in known:
            given[key] = known[key]
        elif inspect.signature(ANALYSES[name]).parameters[key].default is inspect.Parameter.empty:
            arrays = [part for part in get_args(kind) if hasattr(part, "dim_str")]
            given[key] = {1: tensor(arrays[0])} if arrays else pytest.fail(f"{name} takes {key}: {kind}")
    return given


def test_every_public_analysis_says_at_its_definition_that_it_is_checked() -> None:
    """The decorator is the outermost, so that no other one hides it."""
    trees = {path: ast.parse(path.read_text()) for path in sorted(Path(analyses.__path__[0]).glob("*/*.py"))}
    public = {
        f"{path.parent.name}.{path.stem}.{node.name}": [ast.unparse(each) for each in node.decorator_list]
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    assert public.keys() == ANALYSES.keys()
    assert len(public) > 200
    assert not [name for name, decorators in public.items() if decorators[:1] != ["checked"]]


def test_one_analysis_is_imported_without_the_others() -> None:
    code = (
        "import sys, modinterp.analyses.fourier.transforms\n"
        "found = {n for n in sys.modules if n.startswith('modinterp.analyses.')}\n"
        "assert found == {f'modinterp.analyses.{n}' for n in ('checked', 'fourier', 'fourier.transforms', 'meanings')}, found\n"
        "import modinterp as mi\n"
        "assert mi.analyses.fourier.ablations.__name__ == 'modinterp.analyses.fourier.ablations'\n"
        "assert {'fourier', 'groups'} <= {*dir(mi.analyses)} and 'readout' in dir(mi.analyses.fourier)\n"
        "assert not hasattr(mi.analyses.fourier, 'nothing')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_an_analysis_hands_to_another_is_not_checked_again() -> None:
    @checked
    def inner(x: Float[torch.Tensor, "a b"]) -> bool:
        return bool(x.isnan().any())

    @checked
    def outer(x: Float[torch.Tensor, "a b"]) -> bool:
        return inner(x / 0)

    with pytest.raises(ValueError, match="x must be finite"):
        inner(torch.zeros(2, 2) / 0)
    assert outer(torch.zeros(2, 2))
    with pytest.raises(ValueError, match="x must be finite"):  # outer has ended
        inner(torch.zeros(2, 2) / 0)


def test_an_analysis_takes_what_it_asks_for() -> None:
    failures = []
    for name, analysis in ANALYSES.items():
        try:
            result = analysis(**arguments(name))
            list(result) if inspect.isgenerator(result) else None
        except Exception as error:
            failures.append(f"{name}: {error!r}")
    assert not failures


JUNK = [None, "x", b"x", float("nan"), float("inf"), -1, 10**30, 1.5, 2j, [], {}, (), set(), object, [None], [10**30], {1: 2},
        {"x": "y"}, np.zeros((3, 3)), np.array("x"), torch.zeros(()), torch.zeros(0), torch.zeros(2, 0), torch.zeros(2, 3),
        torch.tensor([-1, 99]), torch.ones(3, 3).long(), torch.ones(2, 2, dtype=torch.complex64), pd.Series(["x"]),
        pd.DataFrame({"epoch": ["x"]}), pd.DataFrame(), pd.Series(dtype=float)]  # fmt: skip


def refusal(name: str, given: dict[str, Any]) -> str:
    """What the ValueError says, '' where there is none; of any other error, that it is one."""
    try:
        result = ANALYSES[name](**given)
        list(result) if inspect.isgenerator(result) else None
    except ValueError as error:
        return str(error)
    except Exception as error:
        return f"no ValueError, but\n{error!r}"
    return ""


def test_a_tensor_that_was_changed_is_looked_through_again() -> None:
    x = torch.rand(P, 3)
    transforms.transform(x)
    x[0, 0] = torch.nan
    with pytest.raises(ValueError, match="x must be finite"):
        transforms.transform(x)


def test_junk_is_refused_with_a_value_error_or_taken() -> None:
    failures = []
    for name, analysis in ANALYSES.items():
        whole = arguments(name)
        for key in inspect.signature(analysis).parameters:
            for junk in JUNK:
                said = refusal(name, whole | {key: junk})
                if "\n" in said or len(said) >= 400:
                    failures.append(f"{name}({key}={junk!r}): {said}")
    assert not failures


def test_a_network_with_nan_is_refused() -> None:
    failures = []
    names = [name for name, x in ANALYSES.items() if {"network", "model"} & get_type_hints(x).keys()]
    for name in names:
        whole = arguments(name)
        key = "network" if "network" in whole else "model"
        broken = copy.deepcopy(whole[key])
        broken.embed.W_E.data[0, 0] = torch.nan
        said = refusal(name, whole | {key: broken})
        if said != f"{key} must have finite weights, but embed.W_E contains NaN or infinity":
            failures.append(f"{name}({key}): {said}")
    assert not failures
    assert len(names) >= LEAST_NETWORKS


def test_a_tensor_of_another_rank_or_dtype_or_with_nan_is_refused_by_its_name() -> None:
    failures, tested = [], 0
    for name, analysis in ANALYSES.items():
        hints, whole = get_type_hints(analysis), arguments(name)
        for key, kind in hints.items():
            parts = [part for part in (kind, *get_args(kind)) if hasattr(part, "dim_str")]
            x = whole.get(key)
            if key == "return" or not parts or not isinstance(x, torch.Tensor):
                continue  # several tensors, or none that must be
            wrong = {"rank": x[None], "dtype": x.to(torch.complex64), "numpy": x.detach().numpy(), "empty": x[:0]}
            if x.is_floating_point():
                broken = torch.where(torch.rand(x.shape) < 0.5, torch.nan, x.detach())
                broken[..., -1] = torch.nan
                wrong |= {"NaN": broken, "infinity": torch.full_like(x, -torch.inf), "whole": x.long()}
            if any(axis.startswith("*") for part in parts for axis in part.dim_str.split()):
                del wrong["rank"]
            for why, value in wrong.items():
                said = refusal(name, whole | {key: value})
                if not re.fullmatch(rf"{key} must .*, got .*", said):
                    failures.append(f"{name}({key}), {why}: {said}")
            tested += 1
    assert not failures
    assert tested >= LEAST_TENSORS
