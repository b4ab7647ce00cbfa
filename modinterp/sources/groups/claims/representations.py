"""Claims on representations in the logits, embeddings, neurons and unembedding of the MLP for the group S5."""

from __future__ import annotations

from statistics import median

from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import Finding
from modinterp.measurements import GroupMeasurements
from modinterp.sources.groups.claims.conditions import LEARNED
from modinterp.sources.groups.runs import S5_MLP

W_A, W_B = "W_a in key representations", "W_b in key representations"


def _keys(m: GroupMeasurements) -> dict[str, Value]:
    similarities = m.similarities.abs().tolist()
    others = [x for rho, x in zip(m.irreps, similarities, strict=True) if rho not in m.keys and rho.name != "trivial"]
    return {
        "largest similarity of another": max(others, default=0.0),
        "median similarity of the others": median(others or [0.0]),
    }


def _embedding(m: GroupMeasurements) -> dict[str, Value]:
    matrices = list(m.embeddings.values())
    shares = [share for matrix in matrices for name, share in m.shares(matrix).items() if name in m.key_names]
    return {
        W_A: m.key_share(matrices[0]),
        W_B: m.key_share(matrices[-1]),  # the same one where both elements have one vocabulary
        "least share of a key representation": min(shares, default=0.0),
    }


CLAIMS = (
    Claim(
        id="groups.s5.logits.keys",
        where="section 5.1",
        statement=(
            "The logits of the S5 MLP are a positive combination of the characters of a few key representations. "
            "The characters of all other representations are absent from the logits."
        ),
        source_says="in seed 2 the logits' similarity is 0.509 to sign, 0.767 to standard, and at most 0.0018 to all "
        "others",
        measure=each(_keys),
        given=LEARNED,
        expected={
            "n_keys": between(2, 5, "the networks of 50 seeds have 2 to 5 key representations"),
            "largest similarity of another": at_most(
                0.005, "the released code counts representations with a similarity above 0.005 as key representations"
            ),
            "median similarity of the others": at_most(
                0.002, "in the released mainline network other characters have a similarity of at most 0.0018"
            ),
        },
        needs=S5_MLP,
        scope="any seed",
        figure="similarities",
    ),
    Claim(
        id="groups.s5.logits.fve",
        where="section 5.1",
        statement="The characters of the key representations explain most of the variance of the logits.",
        source_says="the explained share is 0.8481 in the mainline network, and 0.31 to 0.86 in 50 seeds (median 0.59)",
        given=LEARNED,
        expected={"logit_fve_row": at_least(0.3, "the lowest explained share of 50 released seeds is 0.31")},
        needs=S5_MLP,
        scope="any seed",
        finding=Finding(
            "holds",
            "The tolerance comes from the authors' released seeds, in which characters of key representations "
            "explain 0.59 of the logits' variance in the median. In no network of ours do these characters "
            "explain 0.8 of the logits' variance: the explained shares are 0.48 to 0.62. In the network "
            "s5-mlp-1, the explained share of the logits' variance was 0.59 at epoch 185,000. At the end of "
            "training, the explained share of the logits' variance of s5-mlp-1 is 0.48, and still changes.",
        ),
        figure="similarities",
    ),
    Claim(
        id="groups.s5.embed",
        where="section 5.2",
        statement="The embeddings of the S5 MLP contain the key representations and no other representations.",
        source_says=(
            "standard holds 0.930 of the embeddings and sign 0.0695, in sum 1.0000; in 50 seeds the key "
            "representations hold at least 0.996"
        ),
        measure=each(_embedding),
        given=LEARNED,
        expected={
            W_A: at_least(0.99, "in 50 seeds the key representations hold at least 0.996 of the embedding"),
            W_B: at_least(0.99, "in 50 seeds the key representations hold at least 0.996 of the embedding"),
            "least share of a key representation": at_least(
                0.005,
                "the weakest key representation holds 0.0695 of the embedding in the mainline network, and "
                "must not be absent",
            ),
        },
        needs=S5_MLP,
        scope="any seed",
        figure="shares",
    ),
    Claim(
        id="groups.s5.unembed",
        where="section 5.2",
        statement="The unembedding W_U contains the key representations, as the embeddings do.",
        source_says="key representations hold 0.9405 of W_U in the mainline network, and 0.899 to 0.962 in 50 seeds",
        given=LEARNED,
        expected={
            "read_key_share": at_least(0.88, "in 50 seeds key representations hold 0.899 to 0.962 of W_U"),
            "key_energy": at_least(
                0.97,
                "without the mean, key representations hold 0.9955 of W_U in a released network; the mean has "
                "no effect on the softmax",
            ),
        },
        needs=S5_MLP,
        scope="any seed",
        figure="shares",
    ),
    Claim(
        id="groups.s5.hidden",
        where="section 5.3",
        statement="The neurons consist of rho(a), rho(b) and rho(a b) of the key representations.",
        source_says=(
            "these functions hold 0.8888 of the neurons' variance in the mainline network (rho(a b) alone "
            "0.1297), and 0.859 to 0.911 in 50 seeds (rho(a b) alone 0.092 to 0.131)"
        ),
        given=LEARNED,
        expected={
            "neurons_at_keys": between(
                0.82, 0.95, "in 50 seeds key representations hold 0.859 to 0.911 of the neurons' variance"
            ),
            "neurons_product_share": between(
                0.07, 0.16, "in 50 seeds rho(a b) holds 0.092 to 0.131 of the neurons' variance"
            ),
        },
        needs=S5_MLP,
        scope="any seed",
        figure="shares",
    ),
)
