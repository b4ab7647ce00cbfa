"""Export a formula as a program: a readable Python module that uses numpy, and a JSON file with its numbers."""

from __future__ import annotations

import textwrap
from pathlib import Path

from modinterp.distill.programs import template
from modinterp.files import write_together
from modinterp.formulas import Distilled, Rung

MARK = "Written by `modinterp distill`"
ACTS = {
    "relu": "np.maximum(x, 0)",
    "none": "x",
    "square": "x * x",
    "tanh": "np.tanh(x)",
    "gelu": "x * (1 + np.vectorize(math.erf)(x / np.sqrt(2))) / 2",
}
MOST_LETTERS = 119  # of a line of its docstring


def program(d: Distilled, rung: Rung, name: str) -> str:
    """Return the text of a Python module that computes a formula with numpy alone, in at most 60 lines and a title.

    Args:
        d: the formulas of a network, as `distill` returns them.
        rung: the formula to write, one of the formulas in `d`.
        name: name of the module and of the JSON file, without endings.
    """
    found = rung.faithfulness
    words = (
        f"{rung.assumption} {rung.formula.numbers:,} numbers replace {d.numbers:,} weights. The formula "
        f"answers {found.accuracy:.2%} of pairs correctly, and gives the network's answer on "
        f"{found.same:.2%} of pairs. Every number is a projection of the network's weights and activations."
    )
    title = f"{MARK}: {d.m.task.name} as the network {Path(d.m.name).name} computes it, rung `{rung.key}`."
    act = ACTS[rung.formula.act_fn]
    imports = "import json, math, sys" if "math." in act else "import json\nimport sys"
    return template(rung.formula).format(
        imports=imports, act=act, title=title, words=textwrap.fill(words, MOST_LETTERS), name=name
    )


def write_program(d: Distilled, rung: Rung, out: Path) -> tuple[Path, Path]:
    """Write the Python module of a formula and the JSON file with its numbers, and return both paths.

    Args:
        d: the formulas of a network, as `distill` returns them.
        rung: the formula to write, one of the formulas in `d`.
        out: path of the module, ending in `.py`.
    Raises:
        ValueError: the file name is not a valid module name, or an existing file was not written by this function.
        OSError: the folder cannot be written.
    """
    if out.suffix != ".py" or not out.stem.isidentifier():
        raise ValueError(f"{out} is not the name of a Python module; choose a name such as clock.py")
    numbers = out.with_suffix(".json")
    _check_own(out, MARK)
    _check_own(numbers, '"rung"')
    values = d.to_json(rung.key) + "\n"
    write_together({numbers: values.encode(), out: program(d, rung, out.stem).encode()})
    return out, numbers


def _check_own(path: Path, mark: str) -> None:
    """Raise ValueError if a file exists at the path and was not written by `write_program`."""
    if path.exists() and (not path.is_file() or mark not in path.read_text(encoding="utf-8", errors="replace")[:200]):
        raise ValueError(f"{path} exists and was not written by `modinterp distill`; choose another name for --out")
