"""The training engine measured: beside TransformerLens, by number of runs, against the machine's own speed.

    python benchmarks/engine.py [--rounds 5] [--epochs 20] [--runs 1 5 16 64] [--device auto]

Peers are a native TransformerBridge of the installed TransformerLens with the loop of its grokking demo (all positions
computed, test loss every epoch), and the same without the test loss. Rounds alternate between the contestants, so that
a noisy machine hurts all alike; ratios are of medians. There the network is a memorised one: gradients that become
subnormal are what makes a step slow. The bound is the time of the step's own matrix products, by the faster of the
libraries that torch carries.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch
from torch import Tensor
from transformer_lens.config import TransformerBridgeConfig
from transformer_lens.model_bridge.sources import boot_native

from modinterp.models import initial_weights
from modinterp.models.affine import HAS_ONEDNN
from modinterp.runs import load, named, store, train
from modinterp.training import RunSpec, Way, cross_entropy, prepare_cpu, resolved_device
from modinterp.training.engine import suited_way
from modinterp.training.program import Program, flat

SPEC = named("nanda/mainline-0")
FROZEN = replace(SPEC, recipe=replace(SPEC.recipe, lr=0.0))  # so that the network stays memorised
Steps = Callable[[int], object]


def bridge_epochs(device: torch.device, with_test: bool) -> Steps:
    """Epochs of the demo's loop over a native TransformerBridge of the mainline's shape."""
    c = SPEC.model
    config = TransformerBridgeConfig(
        n_layers=1, d_model=c.d_model, n_heads=4, d_head=32, d_mlp=512, d_vocab=c.d_vocab, d_vocab_out=c.d_vocab_out,
        n_ctx=3, act_fn="relu", normalization_type=None,
    )  # fmt: skip
    network = boot_native(config).to(device)
    inputs, labels = SPEC.task.inputs().to(device), SPEC.task.labels()[:, 0].to(device)
    train_rows, test_rows = (rows.to(device) for rows in SPEC.split)
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.0, weight_decay=1.0, betas=(0.9, 0.98))

    def epochs(count: int) -> None:
        for _ in range(count):
            cross_entropy(network(inputs[train_rows])[:, -1], labels[train_rows]).backward()
            optimizer.step()
            optimizer.zero_grad()
            if with_test:
                with torch.inference_mode():
                    cross_entropy(network(inputs[test_rows])[:, -1], labels[test_rows]).item()

    return epochs


def memorised(device: torch.device) -> Program:
    """The mainline run as it stood when it had memorised."""
    row = flat(load("nanda/mainline-0").snapshots[1100], FROZEN.model)
    return Program([FROZEN], row.unsqueeze(0), {}, 1100, device, suited_way(FROZEN, device))


def products(device: torch.device) -> tuple[Steps, float]:
    """The matrix products of one step alone, forward and backward, each by the faster library; and their GFLOP."""
    rows = int(SPEC.recipe.fraction * SPEC.task.p**2)
    shapes = [(128, 128), (128, 512), (512, 128), (128, 113)]
    work: list[Callable[[], Tensor]] = []
    for inner, outer in shapes:
        x, g = torch.randn(rows, inner, device=device), torch.randn(rows, outer, device=device)
        W = torch.randn(inner, outer, device=device)
        for a, b in ((x, W), (g, W.T.contiguous()), (x.T.contiguous(), g)):
            ways = [lambda a=a, b=b: a @ b]
            if HAS_ONEDNN and device.type == "cpu":
                bT = b.T.contiguous()
                ways.append(lambda a=a, bT=bT: torch.ops.mkldnn._linear_pointwise(a, bT, None, "none", [], ""))
            work.append(min(ways, key=lambda way: median(seconds(repeated(way), 5) for _ in range(5))))

    def steps(count: int) -> None:
        for _ in range(count):
            for product in work:
                product()

    return steps, sum(3 * 2 * rows * inner * outer for inner, outer in shapes) / 1e9


def repeated(way: Callable[[], object]) -> Steps:
    """A call, so many times."""
    return lambda count: [way() for _ in range(count)]


def seconds(steps: Steps, count: int) -> float:
    """Mean time of one."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    began = time.perf_counter()
    steps(count)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return (time.perf_counter() - began) / count


def alternated(contestants: dict[str, Steps], rounds: int, epochs: int) -> dict[str, list[float]]:
    """Times of each [s per epoch], one of every round."""
    for steps in contestants.values():
        seconds(steps, 5)
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, steps in contestants.items():
            times[name].append(seconds(steps, epochs))
    return times


def beside_transformer_lens(device: torch.device, rounds: int, epochs: int) -> None:
    """One run, beside the peers and the bound."""
    bound, gigaflop = products(device)
    contestants = {
        "ours": memorised(device).advance,
        "TransformerBridge, test loss every epoch": bridge_epochs(device, with_test=True),
        "TransformerBridge": bridge_epochs(device, with_test=False),
        "the step's matrix products alone": bound,
    }
    times = alternated(contestants, rounds, epochs)
    ours = median(times["ours"])
    print("\none run of nanda/mainline: time of an epoch")
    for name, each in times.items():
        middle, spread = median(each) * 1e3, f"({min(each) * 1e3:.2f} to {max(each) * 1e3:.2f})"
        print(f"  {name:<42} {middle:8.2f} ms  {spread:<20} {middle / 1e3 / ours:5.2f} times ours")
    alone = median(times["the step's matrix products alone"])
    print(f"  {gigaflop:.2f} GFLOP of matrix products; this machine's rate {gigaflop / alone:.0f} GFLOP/s; "
          f"ours reaches {alone / ours:.0%} of it")  # fmt: skip


def by_number_of_runs(device: torch.device, numbers: list[int], rounds: int, epochs: int, compiled: bool) -> None:
    """Epochs per second and run, for three sizes of network."""
    ways = [Way.MAPPED, *([Way.COMPILED] if compiled else []), *([Way.IN_TURN] if device.type == "cpu" else [])]
    for name, spec in ((n, named(f"{n}-0")) for n in ("nanda/mainline", "nanda/p53", "miiii/p23")):
        print(f"\n{name}: epochs per second and run, times the number of runs")
        for way in ways:
            for runs in numbers:
                if device.type == "cuda":
                    torch.cuda.reset_peak_memory_stats()
                rate = runs / median(seconds(started(spec, runs, device, way).advance, epochs) for _ in range(rounds))
                print(f"  {way.value:<20} {runs:3d} runs {rate / runs:9.2f} x {runs:3d} = {rate:9.1f}   "
                      f"peak memory {peak_memory(device):6.0f} MiB")  # fmt: skip


def started(spec: RunSpec, runs: int, device: torch.device, way: Way) -> Program:
    """A program from the beginning that has taken its first steps."""
    specs = [replace(spec, seed=seed) for seed in range(runs)]
    rows = torch.stack([flat(initial_weights(s.model, s.seed), s.model) for s in specs])
    found = Program(specs, rows, {}, 0, device, way)
    found.advance(5)
    return found


def peak_memory(device: torch.device) -> float:
    """MiB so far: of the process, or of its tensors on the GPU."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def written(device: torch.device, epochs: int) -> None:
    """What a training writes, and what the writing and measuring cost."""
    bytes_written, write = [0], store.write

    def counted(path: Path, content: bytes) -> None:
        bytes_written[0] += len(content)
        write(path, content)

    spec = replace(SPEC, recipe=replace(SPEC.recipe, epochs=epochs))
    store.write = counted
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        train({"bench/run": spec}, Path(folder), str(device), progress=False)
        taken = time.perf_counter() - began
        kept = store.size(Path(folder))
    store.write = write
    print(f"\n{epochs} epochs of nanda/mainline-0 with history and snapshots: {taken:.1f} s, "
          f"{bytes_written[0] / 2**20:.1f} MiB written, {kept / 2**20:.1f} MiB kept")  # fmt: skip


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20, help="per round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 5, 16, 64])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--compiled", action="store_true", help="measure the compiled step too")
    options = parser.parse_args()
    prepare_cpu()
    device = resolved_device(options.device)
    print(f"{device}, {torch.get_num_threads()} threads, torch {torch.__version__}")
    beside_transformer_lens(device, options.rounds, options.epochs)
    by_number_of_runs(device, options.runs, max(1, options.rounds // 2), max(1, options.epochs // 4), options.compiled)
    written(device, 10 * options.epochs)


if __name__ == "__main__":
    main()
