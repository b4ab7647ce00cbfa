"""What a claim, a band, a verdict and a contradiction are; the claims themselves stand in `modinterp.sources`."""

from modinterp.claims.band import Band, at_least, at_most, between, equals, near
from modinterp.claims.claim import HOLDS, Claim, Finding, Measure, Result, Value, Verdict, each, not_measured, refuted
from modinterp.claims.contradiction import Contradiction

__all__ = [
    "Band",
    "Claim",
    "Contradiction",
    "Finding",
    "HOLDS",
    "Measure",
    "Result",
    "Value",
    "Verdict",
    "at_least",
    "at_most",
    "between",
    "each",
    "equals",
    "near",
    "not_measured",
    "refuted",
]
