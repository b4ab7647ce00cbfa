"""Contradictions between Kissane's notebook and arithmetic, Nanda et al. 2023, and other parts of the notebook."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.mlp.claims import logits

CONTRADICTIONS = (
    Contradiction(
        id="X-K1",
        conflict=(
            "The notebook's summary says that more than 84% of the variance is explained at every key "
            "frequency. In the notebook's own table, the share explained along sin 35 is 0.8353."
        ),
        settled_by={"claim84": ()},
        follows=(
            "The summary is too high by half a percentage point for the author's network, whose lowest "
            "explained share is 0.8353. If the lowest share of our network is above 0.84, our network "
            "differs from the author's, not our definition."
        ),
    ),
    Contradiction(
        id="X-K2",
        conflict=(
            "The notebook calls the network a 2-layer MLP with one hidden layer; the notebook's summary calls "
            "the network a 1-layer MLP."
        ),
        settled_by={"arch": ("weights",)},
        follows=(
            "The network has one hidden layer: an embedding, W_in and W_U are all its weights. The names "
            '"2-layer MLP" and "1-layer MLP" differ in whether the output counts as a layer.'
        ),
    ),
    Contradiction(
        id="X-K3",
        conflict="The notebook's lists of nine terms contain cos(w a) twice and never cos(w b).",
        settled_by={"neurons_9_terms": ("share of waves of a alone", "share of waves of b alone")},
        follows="The repeated cos(w a) is a misprint: the network is symmetric, and waves of b are as large as waves "
        "of a.",
    ),
    Contradiction(
        id="X-K4",
        conflict="The notebook calls W_U = U S F^T a singular value decomposition.",
        settled_by={
            "wu_fourier_heatmap": (
                "largest cosine between two columns",
                "largest cosine between two key columns",
            )
        },
        follows=(
            "The equation W_U = U S F^T writes W_U in the Fourier basis with normalised columns. A singular"
            " value decomposition has orthogonal columns. In this equation only the columns of the key "
            "frequencies are nearly orthogonal."
        ),
    ),
    Contradiction(
        id="X-K5",
        conflict=(
            'The notebook sees "faint" products of waves before the ReLU. A sum of two embeddings contains no products.'
        ),
        settled_by={"pre_linear_only": ()},
        follows="The faint products are rounding errors: by algebra the products are exactly 0.",
    ),
    Contradiction(
        id="X-K6",
        conflict=(
            "The notebook reports 98% of the Frobenius norm, which is easily mistaken for 98% of the squared norm."
        ),
        settled_by={"wu_norm_ratio": (logits.NORM_RATIO, logits.ENERGY_RATIO)},
        follows=(
            "The share of the squared norm is the square of the share of the norm: 0.9651 for the author's "
            "0.9824. We report the shares of the norm and of the squared norm."
        ),
    ),
    Contradiction(
        id="X-A5",
        conflict=("Nanda et al. count 5 key frequencies, the blog on the Clock counts 3, and this notebook counts 13."),
        settled_by={"logits_norm_map": ("n_keys",), "key_freqs": ("gap of squared norms",)},
        follows=(
            "The number of key frequencies depends on architecture and run. Five seeds of the network "
            "without attention have 9 to 13 key frequencies; transformers of equal size have 3 to 5. All "
            "three sources are right."
        ),
    ),
    Contradiction(
        id="X-A12",
        conflict=(
            "Nanda et al. leave less than 0.55% of W_L outside the key directions. This notebook keeps 98% "
            "of the norm of W_U in the key directions."
        ),
        settled_by={"wu_norm_ratio": (logits.ENERGY_RATIO, "read_residual")},
        follows=(
            "The 98% is a share of the norm and the 0.55% is a share of the squared norm, so the two shares"
            " cannot be compared directly. For W_U this page reports the norm of the residual. For W_L "
            "`nanda.s42.wl_residual` reports the residual as norm and as squared norm."
        ),
    ),
)
