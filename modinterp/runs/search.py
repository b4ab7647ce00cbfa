"""The space of hyper-parameters that Syrkis & Søgaard 2024 searched, their table 1."""

from __future__ import annotations

SPACE: dict[str, tuple[float, ...]] = {
    "dropout": (0, 1 / 2, 1 / 5, 1 / 10),
    "grokfast": (0, 1 / 2, 2),
    "weight_decay": (0, 1 / 10, 1 / 2, 1),
    "d_model": (128, 256),
    "lr": (3e-4, 1e-4),
    "n_heads": (4, 8),
}
