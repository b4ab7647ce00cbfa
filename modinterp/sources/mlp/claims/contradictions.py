"""Contradictions between Kissane's notebook and arithmetic, Nanda et al. 2023, and other parts of the notebook."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.mlp.claims import logits

CONTRADICTIONS = (
    Contradiction(
        id="X-K1",
        conflict=(
            "The summary of Kissane's notebook says that waves of a + b explain more than 84% of the neurons' "
            "variance at every key frequency. In the notebook's own table, the share of variance explained along "
            "the W_U direction of sin 35 is 0.8353."
        ),
        settled_by={"claim84": ()},
        follows=(
            "The notebook's summary is too high by half a percentage point for the author's network, whose "
            "lowest share of variance explained is 0.8353. If the lowest share of variance explained is above "
            "0.84 in our network, our network differs from the author's, not our definition."
        ),
    ),
    Contradiction(
        id="X-K2",
        conflict=(
            "Kissane's notebook calls its network a 2-layer MLP with one hidden layer; the notebook's summary "
            "calls the same network a 1-layer MLP."
        ),
        settled_by={"arch": ("weights",)},
        follows=(
            "The network of Kissane's notebook has one hidden layer: an embedding, W_in and W_U are all its "
            'weights. The names "2-layer MLP" and "1-layer MLP" differ in whether the output counts as a layer.'
        ),
    ),
    Contradiction(
        id="X-K3",
        conflict="The lists of a neuron's nine Fourier terms in Kissane's notebook contain cos(w a) twice and never cos(w "
        "b).",
        settled_by={"neurons_9_terms": ("share of waves of a alone", "share of waves of b alone")},
        follows="The repeated cos(w a) in the notebook's lists is a misprint: the network's waves of b are as "
        "large as its waves of a.",
    ),
    Contradiction(
        id="X-K4",
        conflict="Kissane's notebook calls W_U = U S F^T a singular value decomposition.",
        settled_by={
            "wu_fourier_heatmap": (
                "largest cosine between two columns",
                "largest cosine between two key columns",
            )
        },
        follows=(
            "The equation W_U = U S F^T writes W_U in the Fourier basis F, with normalised columns of U. In a "
            "singular value decomposition all columns of U would be orthogonal. In the notebook's equation W_U = "
            "U S F^T only the columns of U at key frequencies are nearly orthogonal."
        ),
    ),
    Contradiction(
        id="X-K5",
        conflict=(
            'Kissane\'s notebook sees "faint" products of waves of a and b before the ReLU. The input of the ReLU is '
            "a sum of two embeddings, which contains no products of waves of a and b."
        ),
        settled_by={"pre_linear_only": ()},
        follows="The faint products of waves before the ReLU are rounding errors: by algebra the products are exactly 0.",
    ),
    Contradiction(
        id="X-K6",
        conflict=(
            "Kissane's notebook reports that key frequencies hold 98% of the Frobenius norm of W_U, which is easily "
            "mistaken for 98% of the squared norm."
        ),
        settled_by={"wu_norm_ratio": (logits.NORM_RATIO, logits.ENERGY_RATIO)},
        follows=(
            "The share of the squared norm of W_U is the square of the share of the norm: 0.9651 for the "
            "author's 0.9824. We report the key frequencies' shares of the norm and of the squared norm of W_U."
        ),
    ),
    Contradiction(
        id="X-A5",
        conflict=(
            "Nanda et al. count 5 key frequencies, the blog on the Clock counts 3, and Kissane's notebook counts 13."
        ),
        settled_by={"logits_norm_map": ("n_keys",), "key_freqs": ("gap of squared norms",)},
        follows=(
            "The number of key frequencies depends on architecture and run. Five seeds of the network without "
            "attention have 9 to 13 key frequencies; transformers of equal size have 3 to 5. Nanda et al., the "
            "blog on the Clock and Kissane's notebook all count the key frequencies of their own networks "
            "correctly."
        ),
    ),
    Contradiction(
        id="X-A12",
        conflict=(
            "Nanda et al. leave less than 0.55% of W_L outside the directions of key frequencies. Kissane's "
            "notebook keeps 98% of the norm of W_U in the directions of key frequencies."
        ),
        settled_by={"wu_norm_ratio": (logits.ENERGY_RATIO, "read_residual")},
        follows=(
            "The notebook's 98% (W_U) is a share of the norm; Nanda's 0.55% (W_L) is a share of the squared "
            "norm. The notebook's 98% and Nanda's 0.55% are not comparable. For W_U, this source's claims report "
            "the norm of the residual outside the key frequencies' directions. For W_L, the claim "
            "`nanda.s42.wl_residual` reports the norm and the squared norm of the residual."
        ),
    ),
)
