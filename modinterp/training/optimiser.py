"""Run AdamW, Adam or gradient descent on many runs at once, with an optional l1 penalty and gradient filter.

The weights of a run are one row of a tensor `[run, weight]`. A step of the optimiser is therefore elementwise
arithmetic on this tensor, and every run has its own settings.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.training.recipe import Recipe

Moments = dict[str, Tensor]


def _column(recipes: Sequence[Recipe], device: torch.device, name: str) -> Float[Tensor, "run 1"]:
    return torch.tensor([[float(getattr(r, name))] for r in recipes], dtype=torch.float64, device=device)


class Optimiser:
    """The optimiser of all runs, which changes their weights in place.

    AdamW receives the gradient plus l1 sign(weights), plus `grokfast` times the moving average of this sum. The weight
    decay is decoupled from the gradient and acts on every weight. The learning rate rises linearly from 0 over the
    warm-up. Plain gradient descent has the same weight decay and warm-up as AdamW. All runs that an optimiser updates
    have the same kind of optimiser, such as AdamW. With coupled decay, decay times the weights is added to the
    gradient, which makes the optimiser Adam. With `decay_until`, weights decay only in the first steps.

    Attributes:
        moments: `exp_avg` and `exp_avg_sq`, except with gradient descent, and `filtered` if a run has a gradient
            filter; each is `[run, weight]`.
    Source: Loshchilov & Hutter 2019; Lee et al. 2024 and Syrkis & Søgaard 2024, equation 13 (Grokfast's EMA filter).
    """

    def __init__(self, recipes: Sequence[Recipe], moments: Moments, n_weights: int, device: torch.device):
        self.is_adaptive = recipes[0].optimiser == "adamw"
        names = ["exp_avg", "exp_avg_sq"] * self.is_adaptive + ["filtered"] * any(r.grokfast for r in recipes)
        zeros = torch.zeros(len(recipes), n_weights, device=device)
        self.moments = {name: moments[name].to(device, copy=True) if moments else zeros.clone() for name in names}
        columns = ("lr", "lr_end", "lr_stairs", "epochs", "weight_decay", "decay_until", "eps", "warmup")
        columns += ("l1", "grokfast", "grokfast_alpha")
        of = {name: _column(recipes, device, name) for name in columns}
        self.lr, self.warmup = of["lr"], of["warmup"]
        is_coupled = torch.tensor([[r.decay == "coupled"] for r in recipes], device=device)
        self.decay = of["weight_decay"] * ~is_coupled
        coupled = any(r.decay == "coupled" and r.weight_decay for r in recipes)
        self.coupled = (of["weight_decay"] * is_coupled).float() if coupled else None
        self.until = of["decay_until"] if any(r.decay_until for r in recipes) else None
        self.stairs = of if any(r.lr_stairs for r in recipes) else None
        self.beta1, self.beta2 = (
            torch.tensor([[r.betas[i]] for r in recipes], dtype=torch.float64, device=device) for i in (0, 1)
        )
        self.rate1, self.rate2 = (1 - self.beta1).float(), (1 - self.beta2).float()
        self.eps, self.amplify, self.alpha = of["eps"].float(), of["grokfast"].float(), of["grokfast_alpha"].float()
        per_weight = torch.tensor([[n_weights if r.l1_of == "mean" else 1] for r in recipes], device=device)
        self.l1 = (of["l1"] / per_weight).float() if any(r.l1 for r in recipes) else None
        from_gradient = torch.tensor([[r.grokfast_start == "gradient"] for r in recipes], device=device)
        self.from_gradient = from_gradient if any(r.grokfast_start == "gradient" for r in recipes) else None

    def step(
        self, weights: Float[Tensor, "run weight"], grad: Float[Tensor, "run weight"], epoch: Int[Tensor, ""]
    ) -> None:
        """Update `weights` and `moments` in place by one step.

        Args:
            epoch: number of steps before this step.
        """
        if self.l1 is not None:
            grad = grad + self.l1 * weights.sign()
        if "filtered" in self.moments:
            grad = self._amplified(grad, epoch)
        decay, coupled = self.decay, self.coupled
        if self.until is not None:
            still = (self.until == 0) | (self.until > epoch)
            decay, coupled = decay * still, None if coupled is None else coupled * still
        if coupled is not None:
            grad = grad + coupled * weights
        lr = self._rate(epoch) * torch.where(self.warmup > epoch, epoch / self.warmup.clamp(min=1), 1.0)
        if not self.is_adaptive:
            weights.mul_((1 - lr * decay).float()).addcmul_(grad, (-lr).float())
            return
        exp_avg, exp_avg_sq = self.moments["exp_avg"], self.moments["exp_avg_sq"]
        exp_avg.lerp_(grad, self.rate1)
        exp_avg_sq.lerp_(grad * grad, self.rate2)
        done = epoch + 1
        scale = (1 / (1 - self.beta2**done).sqrt()).float()
        update = exp_avg / torch.addcmul(self.eps, exp_avg_sq.sqrt(), scale)
        weights.mul_((1 - lr * decay).float()).addcmul_(update, (-lr / (1 - self.beta1**done)).float())

    def _rate(self, epoch: Int[Tensor, ""]) -> Float[Tensor, "run 1"]:
        """Return the learning rate after the warm-up: constant, or falling in stairs with the part of the training."""
        if self.stairs is None:
            return self.lr
        stairs = self.stairs["lr_stairs"].clamp(min=1)
        fallen = (torch.floor(epoch * stairs / self.stairs["epochs"].clamp(min=1)) + 1) / stairs
        falling = self.lr + (self.stairs["lr_end"] - self.lr) * fallen
        return torch.where(self.stairs["lr_stairs"] > 0, falling, self.lr)

    def _amplified(self, grad: Tensor, epoch: Tensor) -> Tensor:
        """Return the gradient plus a multiple of its moving average, which starts at 0 or at the first gradient."""
        filtered = self.moments["filtered"]
        if self.from_gradient is not None:
            filtered.copy_(torch.where(self.from_gradient & (epoch == 0), grad, filtered))
        filtered.lerp_(grad, 1 - self.alpha)
        return grad + self.amplify * filtered
