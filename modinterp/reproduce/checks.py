"""Turn the claims of a source into pytest tests with three lines of code.

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
    """Return a pytest test function with one case for each claim of a source.

    A test case passes if the verdict equals the recorded verdict, and is skipped if runs are missing. If the verdict
    differs from the record, the test case fails and shows the numbers and tolerances. Each run is loaded and measured
    once for all test cases.

    Args:
        only: pattern of claim ids, such as `fig7.*`; all claims by default.
        root: folder of the runs, or their address on the Hub; the default is that of `modinterp.load`.
    Raises:
        ValueError: the pattern matches no claim.
    """
    import pytest

    claims = source.matching(only)
    if not claims:
        raise ValueError(f"no claim of {source.name} matches {only!r}")

    @cache
    def measured() -> dict[str, NetworkMeasurements]:
        return measurements_of(run_names(claims, source), root, device)

    @pytest.mark.parametrize("claim", claims, ids=lambda claim: claim.id)
    def test_claim(claim) -> None:
        """Test that the verdict of a claim equals the recorded verdict."""
        result = claim.check_available(measured())
        if not result.as_recorded and result.verdict == "open":
            pytest.skip(
                f"not measured: {', '.join(claim.needs)}; `python -m modinterp.runs train` trains the missing runs"
            )
        assert result.as_recorded, f"{claim.statement} {result}"

    return test_claim
