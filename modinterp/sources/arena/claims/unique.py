"""Claims on the first unique letter: first-layer heads find earlier copies of a letter, and each second-layer head
serves some letters.
"""

from __future__ import annotations

from math import nan

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import heads_at_mean
from modinterp.analyses.sequences.circuits import composed_copying
from modinterp.claims.band import at_least, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import each
from modinterp.measurements import SequenceMeasurements
from modinterp.sources.arena.claims.subject import ACCURACY, LOSS, LOWEST, SEED, judged, seed
from modinterp.sources.arena.runs import UNIQUE

SURENESS = "mean probability of the right answer"
LEAST_COPIES = "smallest attention to earlier copies over letters, best head"
HEAD_LEAST = "smallest attention to earlier copies over letters, head with the largest mean"
DIVIDED = "letters whose second-layer head has twice the contrast of any other"
DOMAIN, ELSEWHERE = "largest accuracy on a domain without its head", "smallest accuracy on other letters without a head"
AS_LISTED = "domains are the source's"
MISREAD = "places after the a at which a is answered"
LETTERS = "abcdefghij"
SETS = ("ac", "bghi", "defj")  # letters of the three heads of the source
OVERLOADING = "ggbbiihaggbigbigbig"  # behind "?"
TWICE = 2.0


def tokens_of(letters: str) -> Int[Tensor, "input letter"]:
    """Describe one input by its letters, without the start token "?"."""
    return torch.tensor([[LETTERS.index(letter) for letter in letters]])


def attention_to_copies(m: SequenceMeasurements) -> Float[Tensor, "head letter"]:
    """Return the mean attention of each letter to its earlier copies, for each first-layer head; inputs without earlier
    copies are left out.
    """
    tokens, pattern = m.sampled.inputs, m.pattern_of(m.sampled.inputs)[0].double()
    n = tokens.shape[1]
    is_copy = (tokens.unsqueeze(2) == tokens.unsqueeze(1)) & torch.ones(n, n, dtype=torch.bool).tril(-1)
    to_copies = (pattern * is_copy.unsqueeze(1)).sum(dim=-1).transpose(0, 1)  # head input query
    has_copy = is_copy.any(dim=-1)
    by_letter = [to_copies[:, has_copy & (tokens == letter)].mean(dim=1) for letter in range(m.task.letters)]
    return torch.stack(by_letter, dim=1)


def contrasts(m: SequenceMeasurements) -> Float[Tensor, "head letter"]:
    """Measure how much more each letter adds to its own logit than to the logits of other letters, for each
    second-layer head.

    The effects through first-layer heads are summed, if the second-layer head copies the output of the first-layer
    head.
    """
    n = m.task.letters
    tables = composed_copying(m.folded)[:, :, :n, :n]
    own = tables.diagonal(dim1=2, dim2=3)
    others = (tables.sum(dim=-1) - own) / (n - 1)
    return (own - others).abs().sum(dim=0)


def domain_of(m: SequenceMeasurements) -> Int[Tensor, " letter"]:
    """Return for each letter the second-layer head that most favours this letter's own logit."""
    return contrasts(m).argmax(dim=0)


def accuracies_without(m: SequenceMeasurements) -> Float[Tensor, "head letter"]:
    """Return the accuracy for each right letter, with one second-layer head after another set to its mean output."""
    right, found = m.sampled.labels, []
    for head in range(m.means.shape[2]):
        with heads_at_mean(m.precise, m.means, [(1, head)]) as network:
            correct = m.answers_to(m.sampled, network).correct.double()
        found.append(torch.stack([correct[right == letter].mean() for letter in range(m.task.letters)]))
    return torch.stack(found)


def _solved(m: SequenceMeasurements) -> dict[str, float]:
    found = judged(m).answered
    return {
        ACCURACY: found.accuracy,
        LOSS: found.loss,
        SURENESS: float(found.sureness.mean()),
        LOWEST: float(found.sureness.min()),
    }


def _duplicates(m: SequenceMeasurements) -> dict[str, float]:
    found = attention_to_copies(judged(m))
    best = found[found.mean(dim=1).argmax()]
    return {LEAST_COPIES: float(found.amax(dim=0).min()), HEAD_LEAST: float(best.min())}


def _domains(m: SequenceMeasurements) -> dict[str, float]:
    m = judged(m)
    ordered = contrasts(m).sort(dim=0, descending=True).values
    domain, without = domain_of(m), accuracies_without(m)
    is_own = torch.arange(len(without)).unsqueeze(1) == domain
    by_domain = [float(row[own].mean()) for row, own in zip(without, is_own, strict=True) if bool(own.any())]
    elsewhere = [float(row[~own].mean()) for row, own in zip(without, is_own, strict=True) if not bool(own.all())]
    return {
        DIVIDED: int((ordered[0] >= TWICE * ordered[1]).sum()),
        DOMAIN: max(by_domain, default=nan),
        ELSEWHERE: min(elsewhere, default=nan),
    }


def _domains_listed(m: SequenceMeasurements) -> dict[str, float]:
    domain = domain_of(judged(m)).tolist()
    sets = {"".join(LETTERS[i] for i, owner in enumerate(domain) if owner == head) for head in set(domain)}
    return {AS_LISTED: float(sets == set(SETS)), SEED: seed(m)}


def _overload(m: SequenceMeasurements) -> dict[str, float]:
    letters = tokens_of(OVERLOADING)
    given = judged(m).answers_to(m.task.examples(letters)).given[0]
    after = given[OVERLOADING.index("a") + 2 :]  # the answers stand behind "?" too
    return {MISREAD: int((after == LETTERS.index("a")).sum()), SEED: seed(m)}


CLAIMS = (
    Claim(
        id="arena.unique.solved",
        where="August, the network",
        statement="The network names the first unique letter nearly everywhere.",
        source_says="accuracy .992, loss .017; mean probability of the right answer .988, smallest .001",
        measure=each(_solved),
        expected={ACCURACY: at_least(0.97, "the source's accuracy is 0.992")},
        reported=(LOSS, SURENESS, LOWEST),
        needs=UNIQUE,
        scope="any seed",
    ),
    Claim(
        id="arena.unique.duplicates",
        where="August, attention of the first layer",
        statement="In a first-layer head, a letter attends to its earlier copies.",
        source_says=(
            "in one head all letters but one attend to earlier copies; in another head the remaining letter does"
        ),
        measure=each(_duplicates),
        expected={
            LEAST_COPIES: at_least(
                0.25, "the attention to earlier copies should be twice that of uniform attention, which is 0.13"
            )
        },
        reported=(HEAD_LEAST,),
        needs=UNIQUE,
        scope="any seed",
        figure="unique_copies",
    ),
    Claim(
        id="arena.unique.domains",
        where="August, OV circuits",
        statement="The heads of the second layer divide the letters among themselves.",
        source_says="the source finds three sets of letters",
        measure=each(_domains),
        expected={
            DIVIDED: at_least(
                8, "the source assigns a head to all ten letters; two letters may differ through rounding"
            )
        },
        reported=(DOMAIN, ELSEWHERE),
        needs=UNIQUE,
        scope="any seed",
        figure="unique_domains",
    ),
    Claim(
        id="arena.unique.domains_listed",
        where="August, OV circuits",
        statement="One second-layer head looks for the letters a and c, another for d, e, f and j, and "
        "another for b, g, h and i.",
        source_says="the three heads look for the letters a, c; d, e, f, j; and b, g, h, i",
        measure=each(_domains_listed),
        expected={AS_LISTED: equals(1, "each head should look for the letters that the source lists")},
        given={
            SEED: equals(
                42,
                "heads of another seed divide the letters differently, so the claim is only about networks with the"
                " authors' seed",
            )
        },
        needs=UNIQUE[:1],
        figure="unique_domains",
    ),
    Claim(
        id="arena.unique.overload",
        where="August, an adversarial input",
        statement=(
            "On a string whose letters are mostly handled by one second-layer head, the network answers a instead of h."
        ),
        source_says="the network answers wrongly on the string ?ggbbiihaggbigbigbig",
        measure=each(_overload),
        expected={MISREAD: at_least(8, "the source's network answers wrongly at eleven positions of this string")},
        given={
            SEED: equals(
                42,
                "networks of other seeds answer wrongly on other strings, so the claim is only about the authors' seed",
            )
        },
        needs=UNIQUE[:1],
    ),
)
