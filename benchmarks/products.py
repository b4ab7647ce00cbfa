"""The products of the training step by the two libraries that a CPU build of torch carries, oneDNN and its own.

    python benchmarks/products.py [--rounds 7] [--repeats 20] [--smallest]

Each contestant is the affine map x W + b at a shape of the mainline's MLP and unembedding, forwards and backwards.
Rounds alternate between them, so that a noisy machine hurts all alike; ratios are of medians.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from statistics import median

import torch
from timing import alternated, versions
from torch import Tensor

from modinterp.models.affine import HAS_ONEDNN, affine, fast_affine, onednn_affine
from modinterp.sources import sources, spec
from modinterp.training import prepare_cpu

Affine = Callable[[Tensor, Tensor, Tensor], Tensor]


def steps(product: Affine, x: Tensor, W: Tensor, b: Tensor, gradient: Tensor, repeats: int) -> None:
    """The map and the gradients of x, W and b, so many times."""
    for _ in range(repeats):
        torch.autograd.grad(product(x, W, b), (x, W, b), gradient)


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--smallest", action="store_true", help="one round of one step, to see that all of it runs")
    options = parser.parse_args()
    if options.smallest:
        options.rounds = options.repeats = 1
    prepare_cpu()
    print(versions())
    run = spec(sources()["nanda"].main_run)
    rows, sizes = len(run.split.train), run.model.shapes()
    libraries: dict[str, Affine] = {"torch's own": affine, "the one that is chosen here": fast_affine}
    if HAS_ONEDNN:
        libraries["oneDNN"] = onednn_affine
    for name in ("blocks.0.mlp.W_in", "blocks.0.mlp.W_out", "unembed.W_U"):
        inner, outer = sizes[name]
        x, W, b = (torch.randn(*shape, requires_grad=True) for shape in ((rows, inner), (inner, outer), (outer,)))
        step = partial(steps, x=x, W=W, b=b, gradient=torch.randn(rows, outer), repeats=options.repeats)
        contestants = {library: partial(step, product) for library, product in libraries.items()}
        middles = {library: median(each) for library, each in alternated(contestants, options.rounds).items()}
        print(f"{name}: {rows} x {inner} times {inner} x {outer}, forwards and backwards")
        for library, middle in middles.items():
            ratio = middle / middles["torch's own"]
            print(f"  {library:<28} {middle / options.repeats * 1e3:7.2f} ms  {ratio:5.2f} times torch's own")


if __name__ == "__main__":
    main()
