"""Make the audit's table: each of the audit's 36 criteria, with the audit's status and our finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from modinterp.claims import Result
from modinterp.measurements.quantity import number_text

TITLE = "The audit's 36 criteria, answered by ourselves"
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Criterion:
    """One criterion of the audit, with its status and our finding.

    Attributes:
        key, name: key and name that the audit gives the criterion.
        status: status that the audit gives the criterion.
        answer: a sentence that no number can say: why there is no result, or what the result does not show.
        claims: ids of the claims that answer the criterion, without the source's name.
    """

    key: str
    name: str
    status: str
    answer: str = ""
    claims: tuple[str, ...] = ()


CRITERIA = (
    Criterion("C1", "falsifiability", "confirmed", "Every claim here has a tolerance that we committed before seeing the claim's numbers. If a prototype's"
        " numbers influenced the tolerance, the claim states this. Two tolerances changed after the "
        "measurement; the page lists these changes."),
    Criterion("C2", "structure", "confirmed", claims=("C2.structure",)),
    Criterion("C3", "convergence", "partial", claims=("C3.convergence",)),
    Criterion("C4", "discriminant", "partial", claims=("C4.discriminant", "C4.memorised")),
    Criterion("C5", "network of claims", "partial", "The theory of circles also predicts characters of groups, doubled frequencies after a ReLU, and the Pizza. Other pages test each of these predictions of the theory. Pizza circles inside networks called Clocks do not fit the theory."),
    Criterion("C6", "complementation", "untested", claims=("C6.complementation",)),
    Criterion("M1", "reliability", "partial", claims=("M1.reliability",)),
    Criterion("M2", "baseline separation", "confirmed", claims=("M2.baseline", "M2.swap")),
    Criterion("M3", "stability", "partial", "Only one choice changes the result: whether companions (waves of twice a key frequency) are included.", ("M3.stability",)),
    Criterion("M4", "calibration", "partial", "Chance is 1 in p, or a loss of ln p nats (4.727 at p = 113). In networks whose circles we wrote by "
        "hand, the score is 1. Each number is also measured in untrained and in memorising networks."),
    Criterion("M5", "sensitivity", "untested", claims=("M5.sensitivity",)),
    Criterion("M6", "invariance", "confirmed", claims=("M6.invariance",)),
    Criterion("M7", "selection", "untested", claims=("M7.selection",)),
    Criterion("I1", "necessity", "confirmed", claims=("I1.necessity",)),
    Criterion("I2", "sufficiency", "confirmed", claims=("I2.sufficiency",)),
    Criterion("I3", "minimality", "partial", "The network needs each of its circles for a low loss, but no single neuron.", ("I3.minimality", "I3.neurons")),
    Criterion("I4", "specificity", "not applicable", claims=("I4.specificity",)),
    Criterion("I5", "rivals", "partial", claims=("I5.rivals", "I5.kinds")),
    Criterion("I6", "double dissociation", "untested", "In a network of many tasks, the tasks are separate at the embedding. The rule and its exceptions are separate only in the logits; inside the network the rule and the exceptions share circles and unembedding.", ("I6.double_dissociation", "I6.exceptions")),
    Criterion("I7", "confounds", "partial", "The network needs its less periodic neurons only if these neurons are set to zero, not if these neurons are set to their mean.", ("I7.confounds",)),
    Criterion("I8", "E-value", "untested", claims=("I8.e_value",)),
    Criterion("I9", "epistasis", "partial", "The theory of circles predicts that circles have no synergy in margins, but the criterion demands synergy.", ("I9.epistasis",)),
    Criterion("I10", "rescue", "untested", "A lookup table of tokens also passes the rescue test if most of its circles count as key circles.", ("I10.rescue",)),
    Criterion("I11", "onset", "confirmed", claims=("I11.onset", "I11.order")),
    Criterion("I12", "offset", "untested", "The embedding's circles remain after the network has lost the algorithm, so the presence of circles is no evidence that the network uses them.", ("I12.offset",)),
    Criterion("E1", "reach of interventions", "confirmed", claims=("E1.reach",)),
    Criterion("E2", "inputs", "confirmed", claims=("E2.inputs",)),
    Criterion("E3", "tasks", "partial", "Networks on the groups S5 and A5 also fail without their key representations, but these groups have no half step.", ("E3.tasks",)),
    Criterion("E4", "models", "partial", claims=("E4.models",)),
    Criterion("E5", "dose and response", "untested", claims=("E5.dose",)),
    Criterion("E6", "prediction", "confirmed", claims=("E6.prediction", "E6.rivals")),
    Criterion("V1", "level", "partial", "The audited claim is causal and structural. The claim describes the algorithm of circles and unembedding and the location of heads, but no single neurons."),
    Criterion("V2", "match of evidence", "partial", "The causal part of the claim depends on criteria I1, I2, I4 and M2, and the structural part on criterion C2. If one of these criteria fails in a network, we do not claim the dependent part for this network."),
    Criterion("V3", "simpler account", "partial", "A simpler explanation says only that circles are present and used. Rotating circles by half a step, to"
        " angles without a token, excludes this explanation."),
    Criterion("V4", "labels", "confirmed", "Criterion M7 defines key frequency, I5 defines Clock and Pizza, and C4 defines memorised. 'Fourier multiplication' claims too much, since Pizza circles do not multiply."),
    Criterion("V5", "scope", "confirmed", "The claim is about small networks that add modulo a number with few circles. The claim excludes "
        "networks that use most frequencies, have no nonlinearity, or are larger. This self-audit is not an "
        "independent audit."),
)  # fmt: skip


def table(results: Mapping[str, Result]) -> pd.DataFrame:
    """Return a table with one row for each criterion, and another row for each further claim that answers the
    criterion.

    Args:
        results: map from the id of a claim, without the source's name, to its result.
    """
    rows = []
    for criterion in CRITERIA:
        name = f"{criterion.key} {criterion.name}"
        found = [results[key] for key in criterion.claims if key in results]
        if not found:
            verdict = NOT_MEASURED if criterion.claims else "answered in words"
            rows.append((name, criterion.status, verdict, "", "", "", criterion.answer))
        for result in found:
            rows.append(
                (
                    name,
                    criterion.status,
                    result.words,
                    result.prevalence_text,
                    _numbers(result),
                    _controls(result),
                    criterion.answer,
                )
            )
    return pd.DataFrame(
        rows, columns=["criterion", "the audit", "here", "networks", "numbers", "before training", "remark"]
    )


def _numbers(result: Result) -> str:
    return "; ".join(
        f"{name} {result.value_text(name)} ({band})"
        for name, band in result.claim.expected.items()
        if name in result.measured
    )


def _controls(result: Result) -> str:
    """Return the numbers of the first network before training, or what stands in their place."""
    numbers = result.control.get("before training", {})
    shown = [(name, numbers[name][0]) for name in result.claim.expected if numbers.get(name)]
    return "; ".join(f"{name} {number_text(value)}" for name, value in shown if value == value)
