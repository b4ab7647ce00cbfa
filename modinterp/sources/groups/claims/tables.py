"""Claims on table 1 of the paper, networks by group: shares of representations, and losses with and without them."""

from __future__ import annotations

import math

from modinterp.claims.band import Band, at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import HOLDS, mixed, variant
from modinterp.measurements import GroupMeasurements
from modinterp.sources.groups.claims.conditions import LEARNED
from modinterp.sources.groups.claims.mechanism import EXCLUDED, RESTRICTED_LOSS
from modinterp.sources.groups.runs import A5_MLP, C113_MLP, D59_MLP, MLPS, S5_MLP, TRANSFORMERS

EMBEDDING = "embedding in key representations"


def _table(m: GroupMeasurements) -> dict[str, Value]:
    return {EMBEDDING: min(m.key_share(matrix) for matrix in m.embeddings.values())}


def _losses(m: GroupMeasurements) -> dict[str, Value]:
    test = m.loss_of(m.logits, None if m.spec is None else m.split.test)
    return {
        EXCLUDED: m.neurons_excluded_loss / math.log(m.p),
        RESTRICTED_LOSS: m.neurons_restricted_loss,
        "restricted over test loss": m.neurons_restricted_loss / test,
    }


def _bands(embedding: float, unembedding: float, hidden: float, product: float) -> dict[str, Band]:
    """Bands of a table of shares: the edges that the authors' own networks keep."""
    return {
        EMBEDDING: at_least(
            embedding, "the tolerance comes from the released table, which has means of 4 seeds for each group"
        ),
        "read_key_share": at_least(
            unembedding, "the tolerance comes from the released table, which has means of 4 seeds for each group"
        ),
        "neurons_at_keys": between(
            hidden, 0.97, "the tolerance comes from the released table, which has means of 4 seeds for each group"
        ),
        "neurons_product_share": between(
            0.06, product, "the tolerance comes from the released table, which has means of 4 seeds for each group"
        ),
    }


EXCLUDED_BAND = Change(
    date="2026-11-25",
    what="the tolerance of the excluded loss, in units of the loss of guessing",
    before=(
        "the excluded loss had to be at least 1 times the loss of guessing; an untrained network just meets this "
        "tolerance, with an excluded loss of 1.0002 times the loss of guessing"
    ),
    now=(
        "the excluded loss must be at least 1.1 times the loss of guessing; in networks of S5, A5 and D59 the "
        "excluded loss is at least 2.3 times the loss of guessing; in networks of C113 it is 0.94 times, which "
        "fails the old and the new tolerance"
    ),
    why="an untrained network has learned nothing that could be excluded, so the claim should fail for an "
    "untrained network",
)
BY_GROUP = Change(
    date="2026-11-25",
    what="the networks that share one verdict",
    before="the networks of all groups had one verdict: the statement holds in 5 of 8 networks",
    now=(
        "the networks of each group have a verdict: the statement holds in all networks of S5, D59 and A5, and "
        "in no network of C113"
    ),
    why="the group, and not the seed, decides whether the statement holds in a network",
)
LITTLE_OF_W_U = mixed(
    "In one network of S5, 0.889 of W_U lies in the key representations; the claim expects at least 0.9. All "
    "other numbers of this claim are within their tolerances."
)
THE_MEAN_TOO = mixed(
    "In all networks the excluded loss is above the loss of guessing. In one network of D59 the restricted loss "
    "is 0.49 nats. If the neurons' mean activations are also kept, the restricted loss of the same D59 network "
    "falls to 2.5e-7. The neurons' mean activations belong to the trivial representation and favour some "
    "elements of the group as answers."
)
OF_C113 = variant(
    "The training of our C113 networks ends at about epoch 60,000, and the source's at epoch 250,000. The "
    "authors' C113 networks were not available. If the cosine and sine of each key frequency are removed, our "
    "C113 networks keep some knowledge of their training pairs. Without the cosines and sines of key "
    "frequencies, the loss of our C113 networks is 4.4 nats on training pairs, below the 4.7 nats of guessing. "
    "On all pairs this loss is 5.1 to 5.3 nats. The printed 5.95 nats may come from the released code's four "
    "columns, which have rank two and so contain two directions of rounding noise."
)

CLAIMS = (
    Claim(
        id="groups.table.mlp",
        where="table 1",
        statement="The MLPs trained on each group compute with the characters of representations, as the source's "
        "algorithm does.",
        source_says="shares in key representations: W_a 0.990 to 1.000, W_U 0.933 to 0.985, neurons 0.864 to 0.958, "
        "rho(a b) 0.090 to 0.133",
        measure=each(_table),
        given=LEARNED,
        expected=_bands(0.97, 0.90, 0.80, 0.17),
        needs=MLPS,
        scope="any seed",
        finding=LITTLE_OF_W_U,
        figure="shares",
    ),
    Claim(
        id="groups.table.transformer",
        where="table 1",
        statement="The transformers trained on each group compute with the characters of representations, as the "
        "source's algorithm does.",
        source_says="shares in key representations: W_E 0.941 to 0.999, W_U 0.974 to 1.000, neurons 0.836 to 0.946, "
        "rho(a b) 0.082 to 0.171",
        measure=each(_table),
        given=LEARNED,
        expected=_bands(0.90, 0.95, 0.75, 0.22),
        needs=TRANSFORMERS,
        scope="any seed",
        figure="shares",
    ),
    *(
        Claim(
            id=f"groups.table.losses.mlp.{group}",
            where="table 1",
            statement=(
                f"In {group.upper()} MLPs, the restricted loss is below the test loss, and the excluded loss is "
                "above the loss of guessing."
            ),
            source_says=says,
            measure=each(_losses),
            given=LEARNED,
            expected={
                EXCLUDED: at_least(
                    1.1,
                    "the smallest released average of the excluded loss is 1.26 times the loss of guessing (for C113)",
                ),
                "restricted over test loss": at_most(
                    1, "in the released averages of non-cyclic groups the restricted loss is below the test loss"
                ),
            },
            needs=needs,
            scope="any seed",
            finding=finding,
            figure="losses",
            changed=(EXCLUDED_BAND, BY_GROUP),
            control="also true of random labels" if group == "s5" else "told apart",
        )
        for group, needs, says, finding in (
            ("s5", S5_MLP, "test loss 1.0e-5, excluded loss 11.7, restricted loss 2.2e-7", HOLDS),
            ("d59", D59_MLP, "test loss 6.3e-6, excluded loss 12.4, restricted loss 1.6e-6", HOLDS),
            ("a5", A5_MLP, "test loss 1.9e-5, excluded loss 9.8, restricted loss 5.3e-7", HOLDS),
            ("c113", C113_MLP, "test loss 1.6e-5, excluded loss 5.95, restricted loss 6.9e-3", OF_C113),
        )
    ),
    Claim(
        id="groups.table.losses.transformer",
        where="table 1",
        statement=(
            "In transformers trained on groups, the restricted loss is small and the excluded loss is above the loss "
            "of guessing."
        ),
        source_says="seed 3 on D59: excluded loss 31.95, restricted loss 6.8e-6, test loss 4.2e-7",
        measure=each(_losses),
        given=LEARNED,
        expected={
            EXCLUDED: at_least(1, "a released network has an excluded loss of 31.95 nats"),
            RESTRICTED_LOSS: at_most(
                1e-3, "a released network has a restricted loss of 6.8e-6, which is not below its test loss"
            ),
        },
        needs=TRANSFORMERS,
        scope="any seed",
        finding=THE_MEAN_TOO,
        figure="losses",
    ),
)
