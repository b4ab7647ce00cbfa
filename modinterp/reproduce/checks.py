"""Claims as tests of pytest, for whoever writes a source: three lines make each claim a test.

from modinterp.reproduce.checks import claim_tests
from your_paper.source import SOURCE

test_claim = claim_tests(SOURCE)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from modinterp.measurements import NetworkMeasurements
from modinterp.reproduce.reproduction import measurements_of, run_names
from modinterp.sources import Source


def claim_tests(source: Source, only: str = "*", root: Path | str | None = None, device: str = "cpu") -> Callable:
    """A test function of pytest that has each claim of a source as a case.

    A case passes if the verdict equals the recorded one, fails with the numbers and tolerances if it differs, and is
    skipped if runs are missing. Each run is loaded and measured once.

    Args:
        only: pattern of claim ids.
        root: where the runs lie, a folder or an address on the Hub; by default as in `modinterp.load`.
    Raises:
        ValueError: the pattern fits no claim.
    """
    import pytest

    claims = source.matching(only)
    if not claims:
        raise ValueError(f"no claim of {source.name} fits {only!r}")

    @cache
    def measured() -> dict[str, NetworkMeasurements]:
        return measurements_of(run_names(claims, source), root, device)

    @pytest.mark.parametrize("claim", claims, ids=lambda claim: claim.id)
    def test_claim(claim) -> None:
        """The verdict of a claim is the recorded one."""
        result = claim.check_available(measured())
        if not result.as_recorded and result.verdict == "open":
            pytest.skip(
                f"not measured: {', '.join(claim.needs)}; `python -m modinterp.runs train` trains what is missing"
            )
        assert result.as_recorded, f"{claim.statement} {result}"

    return test_claim
