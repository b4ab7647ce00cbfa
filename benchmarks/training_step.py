"""One epoch of the mainline run: our training step beside a TransformerLens network in the same process.

    python benchmarks/training_step.py [--epochs 20] [--rounds 5]

The peers are a native TransformerBridge of the installed TransformerLens with the loop of its grokking demo (all
positions computed, test loss every epoch), the same without the test loss, and our own hooked network. Rounds
alternate between them, so that a noisy machine hurts all alike; the ratio is of the medians. The network is a memorised
one, since gradients that have become subnormal are what makes a step slow.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import torch
from transformer_lens.config import TransformerBridgeConfig
from transformer_lens.model_bridge.sources import boot_native

from modinterp.models import hooked, last_position_logits
from modinterp.runs import load, named
from modinterp.training import cross_entropy, prepare_cpu

SPEC = named("nanda/mainline-0")


def bridge() -> torch.nn.Module:
    """A native TransformerBridge of the mainline's shape."""
    c = SPEC.model
    return boot_native(
        TransformerBridgeConfig(
            n_layers=1,
            d_model=c.d_model,
            n_heads=4,
            d_head=32,
            d_mlp=512,
            d_vocab=c.d_vocab,
            d_vocab_out=c.d_vocab_out,
            n_ctx=3,
            act_fn="relu",
            normalization_type=None,
        )
    )


def steps() -> dict[str, Callable[[], object]]:
    """One epoch of each contestant, by name."""
    inputs, labels = SPEC.task.inputs(), SPEC.task.labels()[:, 0]
    train, test = SPEC.task.split(SPEC.recipe.fraction, SPEC.seed)
    weights = load("nanda/mainline-0").snapshots[1100]

    def epoch(parameters, logits: Callable[[], torch.Tensor], held_out: Callable[[], torch.Tensor] | None = None):
        optimizer = torch.optim.AdamW(parameters, lr=0.0, weight_decay=1.0, betas=(0.9, 0.98))

        def step() -> None:
            cross_entropy(logits(), labels[train]).backward()
            optimizer.step()
            optimizer.zero_grad()
            if held_out is not None:
                with torch.inference_mode():
                    cross_entropy(held_out(), labels[test])

        return step

    own = {name: w.clone().requires_grad_() for name, w in weights.items()}
    forward = last_position_logits(SPEC.model, inputs[train])
    native, plain = bridge(), hooked(SPEC.model, weights)
    return {
        "ours": epoch(own.values(), lambda: forward(own)),
        "TransformerBridge, test loss every epoch": epoch(
            native.parameters(), lambda: native(inputs[train])[:, -1], lambda: native(inputs[test])[:, -1]
        ),
        "TransformerBridge": epoch(native.parameters(), lambda: native(inputs[train])[:, -1]),
        "our hooked network": epoch(plain.parameters(), lambda: plain(inputs[train])[:, -1]),
    }


def milliseconds(step: Callable[[], object], epochs: int) -> float:
    """Mean time of an epoch."""
    began = time.perf_counter()
    for _ in range(epochs):
        step()
    return (time.perf_counter() - began) / epochs * 1e3


def main() -> None:
    """Print the median time of each and its ratio to ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20, help="per round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    prepare_cpu()
    contestants = steps()
    for step in contestants.values():
        milliseconds(step, 3)
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(options.rounds):
        for name, step in contestants.items():
            times[name].append(milliseconds(step, options.epochs))
    ours = median(times["ours"])
    print(f"{torch.get_num_threads()} threads, torch {torch.__version__}")
    for name, all_times in times.items():
        middle, spread = median(all_times), f"({min(all_times):.1f} to {max(all_times):.1f})"
        print(f"{name:<42} {middle:7.1f} ms  {spread:<18} {middle / ours:5.2f} times ours")


if __name__ == "__main__":
    main()
