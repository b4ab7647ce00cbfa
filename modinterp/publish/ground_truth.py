"""Export networks with a known mechanism as benchmark cases for methods that look for circuits.

Each case is a folder in the layout of InterpBench (Gupta et al. 2024), with additional files of this package:

    CASE/ll_model.pth       the weights as HookedTransformer's state dict
         ll_model_cfg.pkl   its configuration, a dict for `HookedTransformerConfig.from_dict`
         edges.pkl          the edges that matter, a list of (from, to)
         meta.json          description of the network and of its training
         truth.json         every edge with the effect of its ablation; heads, neurons, frequencies, held-out inputs
         model.safetensors  the weights under HookedTransformer's names

Nodes and edges of a case are those of `modinterp.publish.edges`. An edge of the network matters if ablating it raises
the loss by 0.01 nats.
"""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from modinterp.files import folder_name, write_atomically
from modinterp.measurements import measure_as_published
from modinterp.models import TransformerConfig, to_hooked_transformer_state_dict
from modinterp.models.planted import clock
from modinterp.publish.edges import Edge, Graph, auc, edges
from modinterp.runs import TrainedRun, store
from modinterp.sources import load, sources
from modinterp.tasks.description import description

MATTERS = 0.01  # nats by which the loss rises when an edge that matters is ablated
PLANTED = ((23, (3, 7, 10)), (29, (2, 11)), (31, (1, 5, 9, 14)))  # p and the frequencies that are planted


@dataclass(frozen=True)
class Case:
    """A network with its known mechanism.

    Attributes:
        name: name of the case and of its folder.
        truth: the measured mechanism as plain data; see `case`.
        matter: the edges that matter.
        attributions: score of each edge by attribution patching.
    """

    name: str
    run: TrainedRun
    truth: Mapping[str, Any]
    matter: tuple[Edge, ...]
    attributions: Mapping[Edge, float]

    @property
    def score(self) -> float:
        """Area under the ROC curve of attribution patching, as a method that finds the edges that matter."""
        return auc({edge: abs(score) for edge, score in self.attributions.items()}, self.matter)


def case(name: str, run: TrainedRun, planted: tuple[int, ...] | None = None) -> Case:
    """Measure the mechanism of a one-layer transformer over pairs of residues, and ablate each edge.

    Args:
        planted: the frequencies that were written into the weights, for a hand-written network.
    Raises:
        ValueError: the network is of another architecture, or the planted frequencies differ from the measured ones.
    """
    network, m = run.network, measure_as_published(run)
    graph = Graph(network, run.task)
    effects = graph.effects()
    matter = tuple(edge for edge, effect in effects.items() if effect >= MATTERS)
    freqs = tuple(sorted(m.freqs))
    if planted is not None and freqs != tuple(sorted(planted)):
        raise ValueError(f"{name} was made with the frequencies {planted}, but the measured frequencies are {freqs}")
    with torch.no_grad():
        _, cache = network.run_with_cache(run.task.inputs())
        pattern = cache["blocks.0.attn.hook_pattern"][:, :, -1].mean(dim=0)  # [head, pos]
        logits = graph.logits({})
        right, loss = (logits.argmax(dim=-1) == graph.labels).double().mean(), graph.loss(logits)
    truth = {
        "task": description(run.task),
        "operation": run.task.name,
        "accuracy": float(right),
        "loss_nats": float(loss),
        "frequencies": list(freqs),
        "heads": {
            f"a0.h{h}": {"attention_to_position": [round(float(x), 6) for x in row]} for h, row in enumerate(pattern)
        },
        "neuron_clusters": {str(freq): sorted(map(int, rows)) for freq, rows in m.neurons.clusters().items()},
        "edges": [
            {"from": a, "to": b, "loss_rises_by_nats": effects[a, b], "matters": (a, b) in matter} for a, b in effects
        ],
        "held_out": [] if run.spec is None else sorted(map(int, run.split.test)),
    }
    return Case(name, run, truth, matter, graph.attributions())


def planted_cases() -> Iterable[Case]:
    """Return the cases of hand-written networks."""
    for p, freqs in PLANTED:
        task, network = clock(p, freqs)
        name = f"clock-p{p}-{'-'.join(map(str, freqs))}"
        yield case(name, TrainedRun(name, task, network), freqs)


def trained_cases(names: Sequence[str] = ()) -> Iterable[Case]:
    """Return cases of trained networks; by default, the main runs of all sources that are one-layer transformers over
    pairs.
    """
    for name in names or dict.fromkeys(source.main_run for source in sources().values()):
        try:
            run = load(name)
            edges(run.network)
            suits = names or hasattr(measure_as_published(run), "freqs")
        except (FileNotFoundError, ValueError):
            if names:
                raise
            continue
        if suits:
            yield case(name.replace("/", "-") if store.is_name(name) else folder_name(Path(name)), run)


def write_case(case: Case, out: Path) -> Path:
    """Write the folder of a case, and return its path."""
    folder, network = out / case.name, case.run.network
    config = hooked_transformer_config(network.cfg)
    state = io.BytesIO()
    torch.save(to_hooked_transformer_state_dict(network), state)
    write_atomically(folder / "ll_model.pth", state.getvalue())
    write_atomically(folder / "ll_model_cfg.pkl", pickle.dumps(config, protocol=4))
    write_atomically(folder / "edges.pkl", pickle.dumps(list(case.matter), protocol=4))
    made = "planted" if case.run.spec is None else case.run.spec.to_json()
    meta = {"case_id": case.name, "task_description": case.run.task.name, "transformer_cfg": config, "made": made}
    write_atomically(folder / "meta.json", (json.dumps(meta, indent=1) + "\n").encode())
    write_atomically(folder / "truth.json", (json.dumps(case.truth, indent=1) + "\n").encode())
    store.write_weights(folder / "model.safetensors", {name: w.detach() for name, w in network.state_dict().items()})
    return folder


def hooked_transformer_config(c: TransformerConfig) -> dict[str, Any]:
    """Return the fields of the `HookedTransformerConfig` with which TransformerLens loads the weights."""
    sizes = ("n_layers", "d_model", "n_heads", "d_head", "d_mlp", "d_vocab", "d_vocab_out", "n_ctx", "act_fn")
    return {name: getattr(c, name) for name in sizes} | {"normalization_type": None, "attention_dir": "causal"}


def write_ground_truth(cases: Iterable[Case], out: Path) -> list[Case]:
    """Write the folders of some cases and, in their parent folder, `benchmark_metadata.json`; return the cases."""
    written = []
    for one in cases:
        write_case(one, out)
        written.append(one)
    listed = [
        {"case_id": one.name, "task_description": one.run.task.name, "edges": len(one.truth["edges"]),
         "edges_that_matter": len(one.matter), "attribution_patching_auc": one.score}
        for one in written
    ]  # fmt: skip
    metadata = {"name": "modinterp ground truth", "matters_from_nats": MATTERS, "cases": listed}
    write_atomically(out / "benchmark_metadata.json", (json.dumps(metadata, indent=1) + "\n").encode())
    return written
