"""Claims on palindromes: a first-layer head compares mirrored positions, and a second-layer head collects the
differences.
"""

from __future__ import annotations

from math import nan
from statistics import median

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from modinterp.activations import heads_at_mean, mean_outputs, without_heads
from modinterp.claims.band import at_least, at_most, equals, near
from modinterp.claims.checking import Claim
from modinterp.claims.claim import each
from modinterp.claims.finding import mixed, one_seed
from modinterp.measurements import SequenceMeasurements
from modinterp.models import Network
from modinterp.sources.arena.claims.subject import ACCURACY, LOSS, SEED, seed
from modinterp.sources.arena.runs import PALINDROME

PLACES = "places of the second half that attend to their mirror where equal, best head"
HEADS = [(layer, head) for layer in range(2) for head in range(2)]
MEANS = {place: f"margin with head {place[0]}.{place[1]} at its mean" for place in HEADS}
ZEROS = {place: f"margin with head {place[0]}.{place[1]} at zero" for place in HEADS}
FIRST, SECOND = "smaller margin, heads of the first layer at their mean", "smaller margin, heads of the second layer"
MISSED, OTHERS = "smallest error, pairs 17 and 19 alone unequal", "largest error, another pair alone unequal"
BLIND = "pairs that are missed in half of the cases or more where they alone are unequal"
ALIKE, ASKED = "median cosine of what unequal places write", "median cosine of their keys with the query of END"
PRINTED = {(0, 0): 0.614, (0, 1): 6.642, (1, 0): 0.299, (1, 1): 6.815}
ENOUGH = 0.3  # by which the weight on the mirror is larger where both are equal


def margin(m: SequenceMeasurements, network: Network) -> float:
    """Return the mean difference between the logit of the right answer and the logit of the wrong answer, over 2,500
    inputs.
    """
    examples = m.task.fresh(2_500, 42)
    with torch.no_grad():
        logits = network(examples.inputs)[:, -1]
    sign = 2 * examples.labels[:, 0] - 1
    return float((sign * (logits[:, 1] - logits[:, 0])).mean())


def differences(m: SequenceMeasurements) -> Float[Tensor, "head place"]:
    """Measure how much more each position of the second half attends to its mirror position if both letters are equal."""
    n, half = m.task.n_ctx, m.task.half
    places = torch.arange(half + 1, 2 * half + 1)
    pattern = m.pattern_of(m.sampled.inputs)[0]
    to_mirror = pattern[:, :, places, n - 1 - places]
    equal = (m.sampled.inputs[:, places] == m.sampled.inputs[:, n - 1 - places]).unsqueeze(1).double()
    return (to_mirror * equal).sum(dim=0) / equal.sum(dim=0) - (to_mirror * (1 - equal)).sum(dim=0) / (1 - equal).sum(
        dim=0
    )


def best_head(m: SequenceMeasurements) -> int:
    """Return the first-layer head whose attention differs most between equal and unequal mirrored letters."""
    return int(differences(m).mean(dim=1).argmax())


def errors_by_pair(m: SequenceMeasurements, each_pair: int = 400) -> Float[Tensor, " place"]:
    """Return the share of inputs with one unequal pair that the network calls palindromes, by the pair's position in
    the second half.
    """
    generator, half, limit = torch.Generator().manual_seed(0), m.task.half, m.task.limit
    errors = []
    for place in range(half):
        first = torch.randint(0, limit, (each_pair, half), generator=generator)
        second = first.flip(-1).clone()
        second[:, place] = (second[:, place] + torch.randint(1, limit, (each_pair,), generator=generator)) % limit
        found = m.answers_to(m.task.examples(torch.cat([first, second], dim=1)))
        errors.append(float((~found.correct).double().mean()))
    return torch.tensor(errors)


def margins_at_mean(m: SequenceMeasurements) -> dict[tuple[int, int], float]:
    """Return the mean difference of the right and wrong logit with one head at its mean output, for each layer and
    head.
    """
    means, found = mean_outputs(m.precise, m.task.fresh(2_500, 42).inputs), {}
    for place in HEADS:
        with heads_at_mean(m.precise, means, [place]) as network:
            found[place] = margin(m, network)
    return found


def _heads(m: SequenceMeasurements) -> dict[str, float]:
    found = margins_at_mean(m)
    return {
        FIRST: min(found[place] for place in HEADS[:2]),
        SECOND: min(found[place] for place in HEADS[2:]),
    }


def _heads_listed(m: SequenceMeasurements) -> dict[str, float]:
    at_mean, at_zero = margins_at_mean(m), {}
    for place in HEADS:
        with without_heads(m.precise, [place]) as network:
            at_zero[ZEROS[place]] = margin(m, network)
    return {MEANS[place]: at_mean[place] for place in HEADS} | at_zero | {SEED: seed(m)}


def _blind(m: SequenceMeasurements) -> dict[str, float]:
    errors = errors_by_pair(m)
    is_listed = torch.zeros(len(errors), dtype=torch.bool)
    is_listed[[6, 8]] = True
    return {
        MISSED: float(errors[is_listed].min()),
        OTHERS: float(errors[~is_listed].max()),
        BLIND: int((errors >= 0.5).sum()),
        SEED: seed(m),
    }


def _written(m: SequenceMeasurements, head: int) -> Float[Tensor, "place d_model"]:
    """What attending to itself writes more than attending to the mirror, at places that compare themselves with it."""
    n, half = m.task.n_ctx, m.task.half
    with torch.no_grad():
        _, cache = m.folded.run_with_cache(m.sampled.inputs, names_filter=["blocks.0.ln1.hook_scale"])
    positions = m.folded.pos_embed.W_pos.detach() / cache["blocks.0.ln1.hook_scale"].mean(dim=0)
    places = torch.arange(half + 1, 2 * half + 1)[differences(m)[head] >= ENOUGH]
    attn = m.folded.blocks[0].attn
    return ((positions[places] - positions[n - 1 - places]) @ attn.W_V[head] @ attn.W_O[head]).detach()


def _direction(m: SequenceMeasurements) -> dict[str, float]:
    written = _written(m, best_head(m))
    cosines = F.cosine_similarity(written.unsqueeze(0), written.unsqueeze(1), dim=-1)
    pairs = cosines[torch.ones_like(cosines).triu(1).bool()].tolist()
    hook, collector = "blocks.1.attn.hook_q", int(torch.tensor([margins_at_mean(m)[h] for h in HEADS[2:]]).argmin())
    with torch.no_grad():
        _, cache = m.folded.run_with_cache(m.sampled.inputs, names_filter=[hook])
    query = cache[hook][:, -1, collector].mean(dim=0)
    keys = written @ m.folded.blocks[1].attn.W_K[collector].detach()
    to_query = F.cosine_similarity(keys, query.unsqueeze(0), dim=-1).tolist()
    return {ALIKE: median(pairs) if pairs else nan, ASKED: median(to_query) if to_query else nan}


CLAIMS = (
    Claim(
        id="arena.palindrome.solved",
        where="July, the network",
        statement="The network distinguishes nearly all palindromes from other sequences.",
        source_says="accuracy .997, loss .008, mean margin of the right logit 7.489",
        measure=each(
            lambda m: {
                ACCURACY: m.answered.accuracy,
                LOSS: m.answered.loss,
                "mean margin of the right answer, logits": margin(m, m.precise),
            }
        ),
        expected={ACCURACY: at_least(0.98, "the source's accuracy is 0.997")},
        reported=(LOSS, "mean margin of the right answer, logits"),
        needs=PALINDROME,
        scope="any seed",
    ),
    Claim(
        id="arena.palindrome.mirror",
        where="July, attention of the first layer",
        statement=(
            "A first-layer head attends from a position in the second half to the mirror position if the two "
            "tokens are equal, and otherwise to its own position."
        ),
        source_says="the source shows this in a figure",
        measure=each(lambda m: {PLACES: int((differences(m)[best_head(m)] >= ENOUGH).sum())}),
        expected={
            PLACES: at_least(
                6,
                (
                    "at each of the ten positions with a mirror, the attention must be larger by 0.3 if both "
                    "tokens are equal"
                ),
            )
        },
        needs=PALINDROME,
        scope="any seed",
        finding=mixed(
            "In the network palindrome-1, head 0.1 does the reverse: it attends more to the mirror position"
            " if the two tokens are unequal. At six positions head 0.1 of palindrome-1 attends more to the "
            "mirror position if the two tokens are unequal, by 0.34 to 0.52."
        ),
        figure="palindrome_mirror",
    ),
    Claim(
        id="arena.palindrome.heads",
        where="July, ablation of heads",
        statement="One head in each layer is necessary for the answer.",
        source_says="without these heads the margin falls from 7.489 to .614 and .299",
        measure=each(_heads),
        expected={
            FIRST: at_most(2, "without its first-layer head, the margin of the source's network is 0.614"),
            SECOND: at_most(2, "without its second-layer head, the margin of the source's network is 0.299"),
        },
        needs=PALINDROME,
        scope="any seed",
        control="also true before training",
        finding=mixed(),
    ),
    Claim(
        id="arena.palindrome.heads_listed",
        where="July, ablation of heads",
        statement=(
            "Replacing the output of head 0.0 or 1.0 by its mean destroys the answer; the other heads do "
            "not matter. Replacing the output of head 0.1 by zeros makes head 0.1 look important as well."
        ),
        source_says=(
            "margins of .614, 6.642, .299 and 6.815 with each head's output at its mean; 1.672, 3.477, 2.847 "
            "and 7.274 with it at zero"
        ),
        measure=each(_heads_listed),
        expected={
            MEANS[place]: near(value, 0.05, "the margin of the right logit should be that of the source's network")
            for place, value in PRINTED.items()
        },
        given={
            SEED: equals(
                42, "the numbers of heads are arbitrary, so the claim is only about networks with the authors' seed"
            )
        },
        printed={MEANS[place]: value for place, value in PRINTED.items()},
        reported=tuple(ZEROS.values()),
        needs=PALINDROME[:1],
        finding=one_seed(
            "The heads of our network have the source's order of importance, and with zeros in place of "
            "outputs head 0.1 looks important as well. With the output of head 0.0, 0.1, 1.0 or 1.1 at its "
            "mean, our network's margin is 0.48, 6.52, 0.27 or 6.76. Our network equals the authors' "
            "network up to rounding. With a head's output at its mean, our network's margin changes by up "
            "to 1.05 between the last saved rounds of training."
        ),
    ),
    Claim(
        id="arena.palindrome.blind",
        where="July, adversarial inputs",
        statement="The network misses a mismatch that occurs only at position 17 or only at position 19, "
        "and detects all other mismatches.",
        source_says="the network misses mismatches at positions 17 and 19",
        measure=each(_blind),
        expected={
            MISSED: at_least(0.95, "the source's network misses these mismatches"),
            OTHERS: at_most(0.15, "the source's network detects these mismatches"),
        },
        given={SEED: equals(42, "networks of other seeds miss mismatches at other positions")},
        reported=(BLIND,),
        needs=PALINDROME[:1],
        figure="palindrome_blind",
    ),
    Claim(
        id="arena.palindrome.direction",
        where="July, what the first layer writes",
        statement=(
            "At every position where the first layer detects that two mirrored tokens differ, the layer writes this "
            "difference along one and the same direction."
        ),
        source_says=(
            "the head's outputs at different positions have cosines of .96 and more; at positions 17, 19 and 20"
            " they have -.94"
        ),
        measure=each(_direction),
        expected={ALIKE: at_least(0.8, "the head's outputs should have one direction at all positions")},
        reported=(ASKED,),
        needs=PALINDROME,
        scope="any seed",
        finding=mixed(
            "With the authors' seed, the first-layer head's outputs at mismatched positions have a median "
            "cosine of 0.98. With another seed, the first-layer head's outputs have a median cosine of "
            "0.58, so they point in several directions. With a seed other than the authors', the second "
            "layer's keys of the first-layer head's outputs lie along the query of the token END. In "
            "palindrome-1 no position attends to its mirror position where the two tokens are equal, so the"
            " claim does not apply."
        ),
        control="without control",
    ),
)
