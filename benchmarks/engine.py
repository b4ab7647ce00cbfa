"""The training engine measured: beside TransformerLens, by number of runs, against the machine's own speed.

    python benchmarks/engine.py [--rounds 5] [--epochs 20] [--runs 1 5 16 64] [--device auto] [--compiled] [--cpu-time]
                                [--peers] [--smallest]

Peers are a native TransformerBridge of the installed TransformerLens with the loop of its grokking demo (all positions
computed, test loss every epoch), the same without the test loss, plain PyTorch, eagerly or under torch.compile, and the
same step in JAX where that is installed. Rounds alternate between the contestants, so that a noisy machine hurts all
alike; ratios are of medians. There the network is a memorised one: gradients that become
subnormal are what makes a step slow. The bound is the time of the step's own matrix products, by the faster of the
libraries that torch carries. Where the time goes is told operation by operation, from torch's profiler, which itself
takes some of it.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import torch
from plain import plain_epochs
from plain_jax import HAS_JAX, jax_epochs
from timing import alternated, seconds, versions
from torch import Tensor
from torch.profiler import ProfilerActivity, profile
from transformer_lens.config import TransformerBridgeConfig
from transformer_lens.model_bridge.sources import boot_native

from modinterp.models.affine import HAS_ONEDNN
from modinterp.runs import store, train
from modinterp.sources import load, spec
from modinterp.training import ExecutionMode, RunSpec, cross_entropy, faster_mode, prepare_cpu, resolved_device
from modinterp.training.program import Program, flatten_weights

RUN = "nanda/mainline-0"
MEMORISED = 1_400  # epoch of a snapshot that is shipped
SIZES = ("nanda/mainline-0", "nanda/p53-0", "miiii/p23-0")
Steps = Callable[[int], object]


def bridge_epochs(run: RunSpec, device: torch.device, with_test: bool) -> Steps:
    """Epochs of the demo's loop over a native TransformerBridge of a run's shape."""
    c = run.model
    config = TransformerBridgeConfig(
        n_layers=1, d_model=c.d_model, n_heads=4, d_head=32, d_mlp=512, d_vocab=c.d_vocab, d_vocab_out=c.d_vocab_out,
        n_ctx=3, act_fn="relu", normalization_type=None,
    )  # fmt: skip
    network = boot_native(config).to(device)
    inputs, labels = run.task.inputs().to(device), run.task.labels()[:, 0].to(device)
    train_rows, test_rows = (rows.to(device) for rows in run.split)
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


def memorised(run: RunSpec, device: torch.device) -> Program:
    """The run as it stood when it had memorised, which it stays at a learning rate of 0."""
    frozen = replace(run, recipe=replace(run.recipe, lr=0.0))
    row = flatten_weights(load(RUN).snapshots[MEMORISED], run.model)
    return Program([frozen], row.unsqueeze(0), {}, MEMORISED, device, faster_mode(frozen))


def products(run: RunSpec, device: torch.device, trials: int) -> tuple[Steps, float]:
    """The matrix products of one step alone, forward and backward, each by the faster library; and their GFLOP."""
    rows = len(run.split.train)
    shapes = [(128, 128), (128, 512), (512, 128), (128, 113)]
    work: list[Callable[[], Tensor]] = []
    for inner, outer in shapes:
        x, g = torch.randn(rows, inner, device=device), torch.randn(rows, outer, device=device)
        W = torch.randn(inner, outer, device=device)
        for a, b in ((x, W), (g, W.T.contiguous()), (x.T.contiguous(), g)):
            libraries = [lambda a=a, b=b: a @ b]
            if HAS_ONEDNN and device.type == "cpu":
                bT = b.T.contiguous()
                libraries.append(lambda a=a, bT=bT: torch.ops.mkldnn._linear_pointwise(a, bT, None, "none", [], ""))
            work.append(min(libraries, key=lambda product: median(seconds(product) for _ in range(trials))))

    def steps(count: int) -> None:
        for _ in range(count):
            for product in work:
                product()

    return steps, sum(3 * 2 * rows * inner * outer for inner, outer in shapes) / 1e9


def beside_others(device: torch.device, rounds: int, epochs: int, compiled: bool, clock: Callable[[], float]) -> None:
    """One run, beside the peers and the bound."""
    run = spec(RUN)
    bound, gigaflop = products(run, device, trials=5 * epochs)
    contestants = {
        "ours": memorised(run, device).advance,
        "TransformerBridge, test loss every epoch": bridge_epochs(run, device, with_test=True),
        "TransformerBridge": bridge_epochs(run, device, with_test=False),
        "plain PyTorch": plain_epochs(run, device, compiled=False),
        **({"plain PyTorch under torch.compile": plain_epochs(run, device, compiled=True)} if compiled else {}),
        **({"JAX, jitted": jax_epochs(run)} if HAS_JAX and device.type == "cpu" else {}),
        "the step's matrix products alone": bound,
    }
    for steps in contestants.values():
        steps(min(5, epochs))
    times = alternated({name: partial(steps, epochs) for name, steps in contestants.items()}, rounds, clock)
    middles = {name: median(each) / epochs for name, each in times.items()}
    of = "CPU time" if clock is time.process_time else "time"
    print(f"\none run of {RUN}: {of} of an epoch")
    for name, each in times.items():
        spread = f"({min(each) / epochs * 1e3:.2f} to {max(each) / epochs * 1e3:.2f})"
        ratio = middles[name] / middles["ours"]
        print(f"  {name:<42} {middles[name] * 1e3:8.2f} ms  {spread:<20} {ratio:5.2f} times ours")
    alone = middles["the step's matrix products alone"]
    print(f"  {gigaflop:.2f} GFLOP of matrix products; this machine's rate {gigaflop / alone:.0f} GFLOP/s; "
          f"ours reaches {alone / middles['ours']:.0%} of it")  # fmt: skip


def pass_by_pass(device: torch.device, epochs: int, most: int = 12) -> None:
    """Where the time of an epoch goes, by torch's own operations, on one thread and on all."""
    threads = torch.get_num_threads()
    for count in sorted({1, threads}):
        torch.set_num_threads(count)
        program = memorised(spec(RUN), device)
        program.advance(min(5, epochs))
        with profile(activities=[ProfilerActivity.CPU]) as profiled:
            program.advance(epochs)
        taken = sorted(profiled.key_averages(), key=lambda op: -op.self_cpu_time_total)
        whole = sum(op.self_cpu_time_total for op in taken)
        print(
            f"\none run of {RUN} on {count} thread{'s' * (count > 1)}: where {whole / epochs / 1e3:.1f} ms an epoch go"
        )
        for op in taken[:most]:
            share = op.self_cpu_time_total / whole
            print(f"  {op.key:<42} {op.self_cpu_time_total / epochs / 1e3:6.2f} ms  {share:5.1%}")


def by_number_of_runs(device: torch.device, numbers: list[int], rounds: int, epochs: int, compiled: bool) -> None:
    """Epochs per second and run, for three sizes of network."""
    modes = [ExecutionMode.VMAPPED, *[ExecutionMode.COMPILED] * compiled, ExecutionMode.SEQUENTIAL]
    for name in SIZES:
        print(f"\n{name} and further seeds: epochs per second and run, times the number of runs")
        for mode in modes:
            for runs in numbers:
                if device.type == "cuda":
                    torch.cuda.reset_peak_memory_stats()
                # each round with a program of its own, so that no network is farther than the others
                taken = [seconds(partial(begun(spec(name), runs, device, mode).advance, epochs)) for _ in range(rounds)]
                rate = runs * epochs / median(taken)
                print(f"  {mode.value:<20} {runs:3d} runs {rate / runs:9.2f} x {runs:3d} = {rate:9.1f}   "
                      f"peak memory {peak_memory(device):6.0f} MiB")  # fmt: skip


def begun(run: RunSpec, seeds: int, device: torch.device, mode: ExecutionMode) -> Program:
    """A program of several seeds that has taken its first steps."""
    specs = [replace(run, seed=seed) for seed in range(seeds)]
    program = Program.at_start(specs, device, mode)
    program.advance(5)
    return program


def peak_memory(device: torch.device) -> float:
    """MiB so far: of the process, or of its tensors on the GPU."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def written(device: torch.device, epochs: int) -> None:
    """What a training takes, history, snapshots and state included, and what it leaves on disk."""
    run = spec(RUN)
    short = replace(run, recipe=replace(run.recipe, epochs=epochs))
    with tempfile.TemporaryDirectory() as folder:
        taken = seconds(lambda: train({"bench/run": short}, Path(folder), str(device), progress=False))
        size = store.size(Path(folder))
    print(f"\n{epochs} epochs of {RUN} with all that is written: {taken:.1f} s, {size / 2**20:.1f} MiB on disk")


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20, help="per round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 5, 16, 64])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--compiled", action="store_true", help="measure what torch.compile makes of steps, too")
    parser.add_argument("--cpu-time", action="store_true", help="count CPU time of one run beside others")
    parser.add_argument("--peers", action="store_true", help="measure nothing but one run beside others")
    parser.add_argument("--smallest", action="store_true", help="one round of one epoch, to see that all of it runs")
    options = parser.parse_args()
    if options.smallest:
        options.epochs, options.rounds, options.runs = 1, 1, [1]
    prepare_cpu()
    device = resolved_device(options.device)
    print(f"{device}: {versions('transformer-lens', 'jax')}")
    clock = time.process_time if options.cpu_time else time.perf_counter
    beside_others(device, options.rounds, options.epochs, options.compiled, clock)
    if options.peers:
        return
    pass_by_pass(device, options.epochs)
    by_number_of_runs(device, options.runs, max(1, options.rounds // 2), max(1, options.epochs // 4), options.compiled)
    written(device, 10 * options.epochs)


if __name__ == "__main__":
    main()
