"""One step for many runs is one step of each: held against torch's AdamW and against filters worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from modinterp.training import Recipe
from modinterp.training.optimiser import Optimiser

RECIPES = [
    Recipe(),
    Recipe(lr=3e-4, weight_decay=0.0, warmup=0, betas=(0.9, 0.999)),
    Recipe(lr=1e-2, weight_decay=3.0, betas=(0.8, 0.95), eps=1e-6, warmup=5),
]


def gradients(steps: int, runs: int, n: int = 50) -> torch.Tensor:
    return torch.randn(steps, runs, n, generator=torch.Generator().manual_seed(0))


def moved(recipes: list[Recipe], grads: torch.Tensor) -> torch.Tensor:
    weights = torch.ones_like(grads[0])
    optimiser = Optimiser(recipes, {}, grads.shape[2], torch.device("cpu"))
    for epoch, grad in enumerate(grads):
        optimiser.step(weights, grad, torch.tensor(epoch))
    return weights


def test_each_run_moves_as_torchs_adamw_moves_it() -> None:
    grads = gradients(30, len(RECIPES))
    ours = moved(RECIPES, grads)
    for run, recipe in enumerate(RECIPES):
        weight = torch.ones(50, requires_grad=True)
        adamw = torch.optim.AdamW([weight], lr=recipe.lr, betas=recipe.betas, eps=recipe.eps,
                                  weight_decay=recipe.weight_decay)  # fmt: skip
        for epoch, grad in enumerate(grads[:, run]):
            adamw.param_groups[0]["lr"] = recipe.lr * (min(1, epoch / recipe.warmup) if recipe.warmup else 1)
            weight.grad = grad.clone()
            adamw.step()
        torch.testing.assert_close(ours[run], weight.detach(), rtol=2e-6, atol=1e-7)


def test_coupled_decay_and_a_falling_rate_are_those_of_torchs_adam() -> None:
    steps = {"epochs": 30, "log_every": 10, "snapshot_every": 10, "warmup": 0, "betas": (0.9, 0.999)}
    falling = Recipe(lr=1e-2, lr_end=1e-3, lr_stairs=3, weight_decay=0.3, decay="coupled", **steps)
    constant = Recipe(lr=1e-2, weight_decay=0.3, decay="coupled", **steps)
    recipes, grads = [falling, constant, Recipe(**steps)], gradients(30, 3)
    ours = moved(recipes, grads)
    for run, rates in enumerate([(7e-3, 4e-3, 1e-3), (1e-2, 1e-2, 1e-2)]):
        weight = torch.ones(50, requires_grad=True)
        adam = torch.optim.Adam([weight], betas=(0.9, 0.999), weight_decay=0.3)
        for epoch, grad in enumerate(grads[:, run]):
            adam.param_groups[0]["lr"] = rates[epoch // 10]
            weight.grad = grad.clone()
            adam.step()
        torch.testing.assert_close(ours[run], weight.detach(), rtol=2e-6, atol=1e-7)
    torch.testing.assert_close(ours[2], moved([Recipe(**steps)], grads[:, 2:])[0], rtol=0, atol=0)


@pytest.mark.parametrize("start", ["zero", "gradient"])
def test_gradient_filter_by_hand_over_five_steps(start: str) -> None:
    """e_t = alpha e_(t-1) + (1 - alpha) g_t, and g_t + lambda e_t goes on to AdamW."""
    alpha, amplify, grads = 0.98, 0.5, gradients(5, 1)
    average = torch.zeros(50) if start == "zero" else grads[0, 0].clone()
    filtered = []
    for grad in grads[:, 0]:
        average = alpha * average + (1 - alpha) * grad
        filtered.append(grad + amplify * average)
    recipe = Recipe(grokfast=amplify, grokfast_alpha=alpha, grokfast_start=start)
    by_hand = moved([Recipe()], torch.stack(filtered).unsqueeze(1))
    torch.testing.assert_close(moved([recipe], grads), by_hand, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("of", ["sum", "mean"])
def test_l1_penalty_is_part_of_the_gradient(of: str) -> None:
    recipe = Recipe(weight_decay=0.0, l1=10.0, l1_of=of)
    weight = torch.linspace(-1, 1, 51)
    leaf = weight.clone().requires_grad_()
    penalty = 10 * (leaf.abs().sum() if of == "sum" else leaf.abs().mean())
    grads, ours, theirs = gradients(1, 1, 51), weight.clone().unsqueeze(0), weight.clone().unsqueeze(0)
    Optimiser([recipe], {}, 51, torch.device("cpu")).step(ours, grads[0], torch.tensor(10))
    Optimiser([Recipe(weight_decay=0.0)], {}, 51, torch.device("cpu")).step(
        theirs, grads[0] + torch.autograd.grad(penalty, leaf)[0], torch.tensor(10)
    )
    torch.testing.assert_close(ours, theirs)
    assert ours[0, 25] != 0, "the gradient of the loss alone moves a weight of 0"


def test_settings_of_one_run_do_not_touch_another() -> None:
    grads = gradients(10, 3)
    mixed = [Recipe(), Recipe(grokfast=2.0), Recipe(l1=1.0)]
    together = moved(mixed, grads)
    for run, recipe in enumerate(mixed):
        assert torch.equal(moved([recipe], grads[:, run : run + 1])[0], together[run])


@pytest.mark.parametrize("decay", ["decoupled", "coupled"])
def test_decay_ends_when_the_recipe_says_so(decay: str) -> None:
    """Up to there a run moves as one that decays throughout; from there on as one without decay, on the same moments."""
    grads, torchs = gradients(30, 1), {"decoupled": torch.optim.AdamW, "coupled": torch.optim.Adam}
    recipe = Recipe(lr=1e-2, weight_decay=0.5, decay=decay, decay_until=10, warmup=0, eps=1e-8)
    ours = moved([recipe, replace(recipe, decay_until=0)], grads.expand(-1, 2, -1))
    weight = torch.ones(50, requires_grad=True)
    theirs = torchs[decay]([weight], lr=1e-2, betas=recipe.betas, weight_decay=0.5)
    for epoch, grad in enumerate(grads[:, 0]):
        theirs.param_groups[0]["weight_decay"] = 0.5 if epoch < 10 else 0.0
        weight.grad = grad.clone()
        theirs.step()
    torch.testing.assert_close(ours[0], weight.detach(), rtol=2e-6, atol=1e-7)
    assert (ours[0] - ours[1]).abs().max() > 1e-2
