"""Conflicts that Kissane's notebook has with itself, with arithmetic, and with Nanda et al. 2023."""

from modinterp.claims.contradiction import Contradiction

CONTRADICTIONS = (
    Contradiction(
        "X-K5",
        'The notebook sees "faint" products of waves before the ReLU; a sum of two embeddings has none.',
        {"pre_linear_only": ()},
        "They are rounding: exactly 0 by algebra.",
    ),
)  # fmt: skip
