"""Define claims, tolerances, verdicts and contradictions; each source's own claims are in `modinterp.sources`."""

from modinterp.claims.band import Band, at_least, at_most, between, equals, near
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Measure, Value, each, in_pairs
from modinterp.claims.contradiction import Contradiction
from modinterp.claims.finding import (
    HOLDS,
    VERDICTS,
    Finding,
    Verdict,
    inapplicable,
    mixed,
    one_seed,
    pending,
    refuted,
    variant,
)
from modinterp.claims.prevalence import Prevalence, Share
from modinterp.claims.result import Result

__all__ = [
    "Band",
    "Change",
    "Claim",
    "Contradiction",
    "Finding",
    "HOLDS",
    "Measure",
    "Prevalence",
    "Result",
    "Share",
    "VERDICTS",
    "Value",
    "Verdict",
    "at_least",
    "at_most",
    "between",
    "each",
    "equals",
    "in_pairs",
    "inapplicable",
    "mixed",
    "near",
    "one_seed",
    "pending",
    "refuted",
    "variant",
]
