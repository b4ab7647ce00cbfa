"""Claims of appendix D.3, figures 29 to 34: how networks learn long sums, repeated subsequences and skip trigrams."""

from __future__ import annotations

import math
from statistics import mean

import numpy as np

from modinterp.analyses.training.curves import largest_drop, peak, time_to_fall
from modinterp.analyses.training.phases import first_epoch, value_at
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import mixed, one_seed, variant
from modinterp.measurements import NetworkMeasurements, SequenceMeasurements
from modinterp.sources.nanda.claims.trainings import curve, final

LARGEST_GAP = "largest difference of train and test loss"
LOSS_AT_START, LOSS_AT_END = "test loss at the start", "test loss at the end"
MEMORISED = "epoch of a train loss below 1e-3"
FALL_OF_DIGIT = tuple(f"epoch of a loss below 0.5, digit {place}" for place in range(6))
TOGETHER = {
    LARGEST_GAP: at_most(
        0.1, "train and test loss are one curve in the figure, since unlimited data cannot be memorised"
    )
}


def _seeds(stem: str, count: int = 3) -> tuple[str, ...]:
    return tuple(f"nanda/{stem}-{seed}" for seed in range(count))


DIGITS, DIGITS_700 = _seeds("digits-endless"), _seeds("digits-700")
REPEATED = _seeds("repeated-endless", 1)
REPEATED_512 = (*_seeds("repeated-512", 1), *_seeds("repeated-512-short", 1))
TRIGRAMS, TRIGRAMS_512 = _seeds("trigram-endless"), _seeds("trigram-512")
ALL = (*DIGITS, *DIGITS_700, *REPEATED, *REPEATED_512, *TRIGRAMS, *TRIGRAMS_512)


def _apart(m: NetworkMeasurements) -> dict[str, Value]:
    return {LARGEST_GAP: float((curve(m, "train_loss") - curve(m, "test_loss")).abs().max())}


def _digit_drops(m: NetworkMeasurements) -> dict[str, Value]:
    epochs, losses = curve(m, "epoch"), [curve(m, f"test_loss_{name}") for name in m.task.output_names]
    falls = [first_epoch(epochs, loss < 0.5) for loss in losses]
    return {
        "smallest of the digits' largest drops within 300 epochs": min(
            largest_drop(epochs, loss, 300).size for loss in losses
        ),
        "epoch of the last digit's fall over the first's": (
            float(np.max(falls) / np.min(falls)) if np.min(falls) > 0 else math.nan
        ),
        "the largest digit is the first to fall": bool(falls[0] == np.min(falls)),
        **dict(zip(FALL_OF_DIGIT, falls, strict=True)),
    }


def _late_fall(m: NetworkMeasurements) -> dict[str, Value]:
    epochs, test = curve(m, "epoch"), curve(m, "test_loss")
    memorised, top = first_epoch(epochs, curve(m, "train_loss") < 1e-3), peak(epochs, test)
    fallen = first_epoch(epochs, (epochs > top.epoch) & (test <= 0.2 * top.height))
    return {
        "epochs from memorising to a fall by 80%": fallen - memorised,
        LOSS_AT_START: float(test.iloc[0]),
        MEMORISED: memorised,
    }


def _induction(m: SequenceMeasurements) -> dict[str, Value]:
    return {
        "largest drop of the test loss within 1,000 epochs": largest_drop(
            curve(m, "epoch"), curve(m, "test_loss"), 1000
        ).size,
        "highest induction score in the last layer": float(m.induction().max()),
        "highest score of the previous token in the first layer": float(m.previous.max()),
        "highest induction score, all earlier copies counted": float(m.induction(latest=False).max()),
        **_apart(m),
    }


def _diverges(m: NetworkMeasurements) -> dict[str, Value]:
    train, test = curve(m, "train_loss"), curve(m, "test_loss")
    memorised = first_epoch(curve(m, "epoch"), train < 1e-3)
    return {
        "test loss at a train loss of 1e-3": value_at(m.history, memorised, "test_loss"),
        "largest test over train loss": float((test / train).max()),
        MEMORISED: memorised,
    }


def _verdicts(*runs: NetworkMeasurements) -> dict[str, Value]:
    settings: dict[str, list[NetworkMeasurements]] = {}
    for m in runs:
        data = "without end" if m.recipe.batches == "fresh" else "few"
        settings.setdefault(f"{m.task.name}, {data}", []).append(m)
    as_stated = [
        all(m.grokking.delayed == setting.endswith("few") for m in seeds) for setting, seeds in settings.items()
    ]
    return {"share of verdicts as stated": mean(map(float, as_stated)), "verdicts": len(settings)}


CLAIMS = (
    Claim(
        id="nanda.fig29.top",
        where="appendix D.3, figure 29 top",
        statement=(
            "When a network is trained on sums of five-digit numbers with unlimited data, its train and test loss "
            "agree, so there is no grokking."
        ),
        source_says="in two archived runs the mean loss falls below 0.1 at steps 961 and 2,077",
        measure=each(lambda m: {**_apart(m), LOSS_AT_END: final(m, "test_loss")}),
        expected=TOGETHER | {LOSS_AT_END: at_most(0.1, "the loss of archived runs is below 0.1 by step 2,077")},
        needs=DIGITS,
        scope="any seed",
        figure="digits",
        finding=mixed(),
    ),
    Claim(
        id="nanda.fig29.bottom",
        where="appendix D.3, figure 29 bottom",
        statement="A network that adds five-digit numbers learns each digit of the answer in a separate sudden "
        "drop of the loss, the most significant digit first.",
        source_says="the losses of the first two digits fall at about steps 150 and 270",
        measure=each(_digit_drops),
        expected={
            "smallest of the digits' largest drops within 300 epochs": at_least(
                0.5, "a fall of half a nat at once counts as a drop"
            ),
            "epoch of the last digit's fall over the first's": at_least(
                3, "in an archived run the losses of the digits fall between steps 122 and 1,828"
            ),
            "the largest digit is the first to fall": equals(
                1, "in the figure the loss of token 0, the most significant digit, falls first"
            ),
        },
        needs=DIGITS,
        scope="any seed",
        figure="digits_each",
        reported=FALL_OF_DIGIT,
    ),
    Claim(
        id="nanda.fig30",
        where="appendix D.3, figure 30",
        statement=(
            "When a network is trained on 700 sums of five-digit numbers, its test loss separates from its train "
            "loss and falls long afterwards."
        ),
        source_says=(
            "the test loss of an archived run peaks at 8.5, is below 1 at epoch 11,386, and ends at about 0.2"
        ),
        measure=each(_late_fall),
        expected={
            "highest_test_loss": at_least(
                3, "the test loss peaks at 8.5 in an archived run; the loss of guessing is 2.3"
            ),
            "epochs from memorising to a fall by 80%": at_least(
                3000, "in an archived run the test loss falls nearly 10,000 epochs after the train loss"
            ),
            "final_test_loss": at_most(0.5, "the test loss of an archived run ends at about 0.2"),
        },
        needs=DIGITS_700,
        scope="any seed",
        finding=mixed(
            "When trained on 700 sums, the network memorises at epoch 510 to 940 in all three seeds. The test "
            "loss on sums falls by 80% another 3,070 to 7,260 epochs later and ends at 0.07 to 0.14, as in the "
            "archived run. The highest test loss on sums during training is 3.8 in one seed. In the two other "
            "seeds the highest test loss during training is 2.7 and 2.6, and the claim expects at least 3."
        ),
        figure="digits_few",
        reported=(LOSS_AT_START, MEMORISED),
    ),
    Claim(
        id="nanda.fig31",
        where="appendix D.3, figure 31",
        statement=(
            "For repeated subsequences with unlimited data, train and test loss agree. Train and test loss on "
            "repeated subsequences drop suddenly, when induction heads form."
        ),
        source_says="the loss of an archived run is 4.60 at step 500, 1.26 at 1,000 and 0.33 at 6,000",
        measure=each(_induction),
        expected={
            "largest drop of the test loss within 1,000 epochs": at_least(
                2, "within 1,000 steps the loss of an archived run drops by 3.3 nats"
            ),
            "highest induction score in the last layer": at_least(
                0.5, "the best head must give the expected token most of its attention"
            ),
            "highest score of the previous token in the first layer": at_least(
                0.5, "the best head must give the expected token most of its attention"
            ),
        },
        needs=REPEATED,
        scope="any seed",
        finding=one_seed(
            "As in the archived run on repeated subsequences, train and test loss agree, drop by 4.2 nats within "
            "1,000 steps and end at 0.34. Induction heads give less than half of their attention to the token "
            "that the source expects. The best head of our network's first layer gives 0.46 of its attention to "
            "the previous token. The best head of our network's second layer gives 0.38 of its attention to the "
            "token after the last earlier copy, and 0.75 to the tokens after all earlier copies."
        ),
        figure="repeated",
        reported=(LARGEST_GAP, "highest induction score, all earlier copies counted", "final_test_loss"),
    ),
    Claim(
        id="nanda.fig32",
        where="appendix D.3, figure 32",
        statement=(
            "A network trained on 512 sequences with a repeated subsequence memorises these sequences. The test "
            "loss of a network trained on 512 sequences with a repeated subsequence drops suddenly, long after "
            "the network has memorised them."
        ),
        source_says="the test loss of an archived run is about 15 for 180,000 steps, then 1.0 to 1.7",
        measure=each(
            lambda m: {
                "share of its height that the test loss falls": peak(
                    curve(m, "epoch"), curve(m, "test_loss")
                ).share_lost
            }
        ),
        expected={
            "highest_test_loss": at_least(
                8, "the test loss is about 15 in an archived run; the loss of guessing is 4.9"
            ),
            "share of its height that the test loss falls": at_least(
                0.7, "the test loss of an archived run falls by a share of 0.9"
            ),
        },
        needs=REPEATED_512,
        scope="any seed",
        finding=variant(
            "Our run has sequences half as long as the paper's (43 tokens, a subsequence of 8) and three times "
            "the paper's learning rate. A run with the paper's lengths takes six hours on two cores and is "
            "pending. Our network memorises the 512 sequences within 700 steps, and its test loss rises to 13.5, "
            "where guessing has a loss of 4.9. The test loss of our network stays between 11 and 13.5 for "
            "100,000 steps and is 12.4 at the end. In a trial with unlimited data, a network learned sequences "
            "with a repeated subsequence within 1,000 steps. So a network of our network's size can solve the "
            "task, but our network does not generalise from 512 sequences."
        ),
        figure="repeated_few",
        reported=("final_test_loss",),
    ),
    Claim(
        id="nanda.fig33",
        where="appendix D.3, figure 33",
        statement=(
            "When a network is trained on skip trigrams with unlimited data, train and test loss agree and drop "
            "suddenly."
        ),
        source_says="the loss of an archived run is 2.16 at step 200 and 0.158 at step 300",
        measure=each(
            lambda m: {
                "epochs from 1.5 to 0.3": time_to_fall(curve(m, "epoch"), curve(m, "test_loss"), 1.5, 0.3),
                **_apart(m),
            }
        ),
        expected=TOGETHER
        | {"epochs from 1.5 to 0.3": at_most(300, "the loss of an archived run drops within 100 steps")},
        needs=TRIGRAMS,
        scope="any seed",
        figure="trigrams",
        contrast=("nanda/trigram-512-0",),
    ),
    Claim(
        id="nanda.fig34",
        where="appendix D.3, figure 34",
        statement=(
            "When a network is trained on 512 examples of skip trigrams, train and test loss separate before the "
            "test loss falls."
        ),
        source_says="the test loss of an archived run is 0.78 from epoch 400 to 750, and 0.03 at 5,000",
        measure=each(_diverges),
        expected={
            "test loss at a train loss of 1e-3": at_least(
                0.3, "the test loss of an archived run is 0.78 while its train loss is low"
            ),
            "final_test_loss": at_most(0.1, "the test loss of an archived run is 0.03 at the end"),
        },
        needs=TRIGRAMS_512,
        scope="any seed",
        finding=variant(
            "When trained on 512 skip trigrams in sequences of 8 tokens, the network generalises while it "
            "memorises. In all three seeds on skip trigrams the test loss is at most 1.9 times the train loss. "
            "Train and test loss on skip trigrams are below 1e-3 by epoch 70. The loss of an archived run on "
            "skip trigrams falls below 1e-6 only at epoch 1,341. The paper does not state the length of its skip "
            "trigram sequences, so the result is about our version of the task.",
        ),
        figure="trigrams_few",
        reported=("largest test over train loss", MEMORISED),
    ),
    Claim(
        id="nanda.D3.limited_data",
        where="appendix D.3",
        statement=(
            "On long sums, repeated subsequences and skip trigrams, networks grok with few data and do not "
            "grok with unlimited data."
        ),
        source_says="for each of three tasks, networks grok with few data and not with unlimited data",
        measure=_verdicts,
        expected={
            "share of verdicts as stated": equals(
                1,
                "the statement is about every task and amount of data, so the share must be 1; the number "
                "of measured cases is reported beside this share",
            )
        },
        needs=ALL,
        required=("nanda/*-endless-*", "nanda/digits-700-*", "nanda/trigram-512-*"),
        scope="any seed",
        finding=variant(
            "On skip trigrams, networks do not grok even with few data. When trained on 700 long sums, three "
            "seeds have highest test losses of 2.6 to 3.8, and final test losses of 0.07 to 0.14. The final "
            "accuracy on long sums is 97.7% to 98.4%, and only a network with an accuracy of 99% counts as "
            "having generalised. When trained on 512 repeated subsequences of half the paper's length, the "
            "network memorises and does not generalise in 100,000 steps."
        ),
        figure="digits_few",
        reported=("verdicts",),
    ),
)
