"""A formula as a program of its own: a readable module of numpy, and its numbers as JSON beside it."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

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
PROGRAM = '''"""{title}

{words}

    python {name}.py 3 5      the answer to one pair
    python {name}.py          the share of all pairs that it answers rightly
"""

{imports}
from pathlib import Path

import numpy as np

FORMULA = json.loads(Path(__file__).with_suffix(".json").read_text())["formula"]
P, SIGN = FORMULA["p"], FORMULA["sign"]
NAMES = FORMULA.get("names") or list(range(P))  # the numbers in the order in which they add up
act = lambda x: {act}  # the nonlinearity
# Multiples (i, j) of each term's waves cos(w (i a + j b) + phase).
TERMS = {{"constant": [(0, 0)], "single": [(1, 0), (0, 1)], "first": [(1, 0)], "second": [(0, 1)], "sum": [(1, 1)],
         "double": [(2, 0), (0, 2)], "double first": [(2, 0)], "double second": [(0, 2)], "difference": [(1, -1)]}}


def wave(freq, steps):  # e^(i w steps)
    return np.exp(2j * np.pi * (freq * steps % P) / P)


def amplitudes(waves, i, j, phases):  # a wave without a phase follows the neuron's waves of a and b
    return np.array(waves["amplitude"]) * np.exp(1j * np.array(waves.get("phase", i * phases[0] + j * phases[1])))


def logits(a, b):
    """Logits of all classes for pairs of places in NAMES, [pair, class]."""
    a, b, c = np.atleast_1d(a), SIGN * np.atleast_1d(b), np.arange(P)
    total = np.zeros((len(a), P))
    for k, alpha in FORMULA.get("alphas", {{}}).items():
        total += alpha * wave(int(k), (a + b)[:, None] - c).real
    for cluster in FORMULA.get("clusters", []):
        k, inputs, u = cluster["freq"], cluster["inputs"], 0
        phases = [np.array(inputs.get(x, inputs.get("single", {{}})).get("phase", 0.0)) for x in ("first", "second")]
        for term, waves in inputs.items():  # such as "single", or "single at 35" for waves of another frequency
            term, _, other = term.partition(" at ")
            z, freq = amplitudes(waves, *TERMS[term][0], phases), int(other or k)
            u = u + (sum(wave(freq, i * a + j * b) for i, j in TERMS[term])[:, None] * z).real
        for written, waves in cluster["outputs"].items():
            z = amplitudes(waves, 1, 1, phases)
            total += act(u) @ (z[:, None] * wave(int(written), c)).real
    for path in FORMULA.get("path", []):  # what passes the neurons by
        x, of_class = sum(wave(path["freq"], i * a + j * b) for i, j in TERMS[path["term"]]), wave(path["freq"], c)
        cosine, sine = (np.outer((complex(*path[part]) * x).real, np.ones(P)) for part in ("cosine", "sine"))
        total += cosine * of_class.real + sine * of_class.imag
    return total


if __name__ == "__main__":
    b, pair = np.arange(P), [NAMES.index(int(x)) for x in sys.argv[1:]]
    right = [logits(np.full(P, a), b).argmax(1) == (a + SIGN * b) % P for a in range(P)]
    print(NAMES[logits(*pair).argmax()] if pair else np.mean(right))
'''


def program(d: Distilled, rung: Rung, name: str) -> str:
    """The text of a module that computes a rung with numpy alone, at most 60 lines and a title.

    Args:
        name: of the module, and of the JSON beside it.
    """
    found = rung.faithfulness
    words = (
        f"{rung.assumption} {rung.formula.numbers:,} numbers in place of {d.numbers:,}: it answers "
        f"{found.accuracy:.2%} of pairs rightly, {found.same:.2%} as the network does. Every number is a projection "
        "of the network's weights and activations."
    )
    title = f"{MARK}: {d.m.task.name} as the network {Path(d.m.name).name} computes it, rung `{rung.key}`."
    act = ACTS[rung.formula.act_fn]
    imports = "import json, math, sys" if "math." in act else "import json\nimport sys"
    return PROGRAM.format(imports=imports, act=act, title=title, words=textwrap.fill(words, MOST_LETTERS), name=name)


def write_program(d: Distilled, rung: Rung, out: Path) -> tuple[Path, Path]:
    """Write the module and its JSON, and return their paths.

    Args:
        out: of the module; it ends in `.py`.
    Raises:
        ValueError: the name is none of a module, or a file of that name was not written by this function.
        OSError: the folder cannot be written.
    """
    if out.suffix != ".py" or not out.stem.isidentifier():
        raise ValueError(f"{out} is no name of a module; expected one such as clock.py")
    numbers = out.with_suffix(".json")
    _check_own(out, MARK)
    _check_own(numbers, '"rung"')
    values = json.dumps(rung.to_json(), allow_nan=False) + "\n"
    write_together({numbers: values.encode(), out: program(d, rung, out.stem).encode()})
    return out, numbers


def _check_own(path: Path, mark: str) -> None:
    """Raises ValueError where a file is there that this module did not write."""
    if path.exists() and (not path.is_file() or mark not in path.read_text(encoding="utf-8", errors="replace")[:200]):
        raise ValueError(f"{path} is there and was not written by `modinterp distill`; choose another name for --out")
