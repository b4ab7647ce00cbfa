"""Conflicts that Kissane's notebook has with itself, with arithmetic, and with Nanda et al. 2023."""

from modinterp.claims.contradiction import Contradiction

CONTRADICTIONS = (
    Contradiction(
        "X-K1",
        "The summary says more than 84% at every key frequency; the notebook's own table has 0.8353 for sin 35.",
        {"claim84": ()},
        "The summary is off by half a point for the author's network: its lowest is 0.8353. Where ours is above 0.84, "
        "that is another network, not another definition.",
    ),
    Contradiction(
        "X-K2",
        "The notebook calls the network a 2-layer MLP with one hidden layer, its summary a 1-layer MLP.",
        {"arch": ("weights",)},
        "One hidden layer: an embedding, W_in and W_U are all its weights; what differs is whether the output counts.",
    ),
    Contradiction(
        "X-K3",
        "The lists of nine terms have cos(w a) twice and cos(w b) nowhere.",
        {"neurons_9_terms": ("share of waves of a alone", "share of waves of b alone")},
        "A misprint: the network is symmetric in a and b, and waves of b are as large as waves of a.",
    ),
    Contradiction(
        "X-K4",
        "W_U = U S F^T is called a singular value decomposition.",
        {
            "wu_fourier_heatmap": (
                "largest cosine between two columns",
                "largest cosine between two key columns",
            )
        },
        "It is W_U in the Fourier basis with its columns normalised. Those of a singular value decomposition are "
        "orthogonal; these are not, though those of the key frequencies come near it.",
    ),
    Contradiction(
        "X-K5",
        'The notebook sees "faint" products of waves before the ReLU; a sum of two embeddings has none.',
        {"pre_linear_only": ()},
        "They are rounding: exactly 0 by algebra.",
    ),
    Contradiction(
        "X-K6",
        "The notebook's 98% of the Frobenius norm reads like 98% of the energy.",
        {"wu_norm_ratio": ("ratio of norms", "ratio of squared norms")},
        "Squared it is less: 0.9651 for the author's 0.9824. Both are reported.",
    ),
    Contradiction(
        "X-A5",
        "Nanda et al. count 5 key frequencies, the blog on the Clock 3, this notebook 13.",
        {"logits_norm_map": ("key frequencies",), "key_freqs": ("gap of squared norms",)},
        "The number belongs to the architecture and to the run: without attention it is 9 to 13 over five seeds, in "
        "transformers of the same size 3 to 5; nobody's number is wrong.",
    ),
    Contradiction(
        "X-A12",
        "Nanda et al. leave less than 0.55% of W_L outside the key directions, this notebook keeps 98% of W_U's norm.",
        {"wu_norm_ratio": ("ratio of squared norms", "norm of the residual")},
        "The two are on different scales, and 98% reads closer to 0.55% than it is: what is left of W_U is the residual's "
        "norm given here; `nanda.s42.wl_residual` gives that of W_L, as norm and as squared norm.",
    ),
)  # fmt: skip
