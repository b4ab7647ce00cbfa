"""Where networks of other authors lie, for tests that read them; they do not come with the project."""

from __future__ import annotations

from pathlib import Path

REFERENCE = Path(__file__).parents[2] / "shared" / "reference"
