"""Texts of the programs that `distill --out` writes: modules of numpy that compute a formula from its JSON."""

from __future__ import annotations

from collections.abc import Iterator

from modinterp.formulas.group_formula import GroupFormula, split

HEAD = '''"""{title}

{words}

    python {name}.py 3 5      the answer to one pair
    python {name}.py          the share of all pairs that it answers rightly
"""

{imports}
from pathlib import Path

import numpy as np

'''
OF_WAVES = (
    HEAD
    + '''FORMULA = json.loads(Path(__file__).with_suffix(".json").read_text())["formula"]
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
)

# Each line with what a formula must have for it: `-` for any formula, else keys of `_has`.
OF_GROUPS = '''
-|FORMULA = json.loads(Path(__file__).with_suffix(".json").read_text())["formula"]
-|BLOCKS, TIMES, P = FORMULA["blocks"], np.array(FORMULA["times"]), len(FORMULA["times"][0])
neurons|act = lambda x: {act}  # the nonlinearity
-|
-|def products(neutral, times):  # of all elements: each is an earlier one times a generator
-|    table = np.array([neutral] * P)
-|    for element, earlier, place in FORMULA["steps"]:
-|        table[element] = times(table[earlier], place)
-|    return table
-|
-|RHO = {{k: products(np.eye(len(x["generators"][0])), lambda m, place: m @ x["generators"][place])
-|       for k, x in BLOCKS.items()}}
-|
-|def part(of, name, a, b):  # matrix elements of a pair, [pair, feature]
products|    if of == "a, b":
products|        return np.einsum("if,ig->ifg", part("a", name, a, b), part("b", name, a, b)).reshape(len(a), -1)
-|    x = {{"a": RHO[name][a], "b": RHO[name][b], "a b": RHO[name][a] @ RHO[name][b]}}.get(of, np.ones((len(a), 1, P)))
-|    return x[:, :, BLOCKS[name]["columns"] if of != "constant" else [0]].reshape(len(a), -1)
matrices|
matrices|def full(name, x):  # the matrices F of coefficients x, with trace(F^T rho(g)) the function that they give
matrices|    size = RHO[name].shape[1] / P / round((np.trace(RHO[name], axis1=1, axis2=2) ** 2).mean())
matrices|    return size * np.einsum("gf,nf,gij->nij", part("a", name, *[np.arange(P)] * 2), np.array(x), RHO[name])
-|
-|def logits(a, b):
-|    """Logits of all classes for pairs of elements, [pair, class]."""
-|    a, b, c, total = np.atleast_1d(a), np.atleast_1d(b), np.arange(P), np.zeros((np.size(a), P))
alphas|    for name, alpha in FORMULA["alphas"].items():  # trace(rho(a) rho(b) rho(c)^T)
alphas|        total += alpha * np.einsum("iuv,cuv->ic", RHO[name][a] @ RHO[name][b], RHO[name])
neurons|    for cluster in FORMULA["clusters"]:
neurons|        own, inputs, constant = RHO[cluster["block"]], cluster["inputs"], np.array(cluster["constant"])
neurons|        u = sum((part(*term.split(": "), a, b) @ np.array(x).T for term, x in inputs.items()), constant)
neurons|        w = sum(np.array(x) @ part("a", name, c, c).T for name, x in cluster["outputs"].items())
vectors|        if "vectors" in cluster:  # x.rho(a) y + y.rho(b) z
vectors|            x, y, z = (np.array(cluster["vectors"][k]) for k in "xyz")
vectors|            A, B = x[:, :, None] * y[:, None], y[:, :, None] * z[:, None]
vectors|            u = u + np.einsum("nij,gij->gn", A, own)[a] + np.einsum("nij,gij->gn", B, own)[b]
matrices|        if "along" in cluster and "vectors" not in cluster:
matrices|            A, B = (full(cluster["block"], inputs[f"{{of}}: {{cluster['block']}}"]) for of in "ab")
along|        if "along" in cluster:  # a size along the product of the matrices of a and b
along|            AB = A @ B / np.linalg.norm(A @ B, axis=(1, 2), keepdims=True)
along|            w = w + np.array(cluster["along"])[:, None] * np.einsum("nij,cij->nc", AB, own)
neurons|        total += act(u) @ w
path|    for path in FORMULA["path"]:  # what passes the neurons by
path|        total += part(path["term"], path["block"], a, b) @ path["coefficients"] @ part("a", path["block"], c, c).T
-|    return total
-|
-|if __name__ == "__main__":
-|    table, pair = products(np.arange(P), lambda x, place: TIMES[place][x]), [int(x) for x in sys.argv[1:]]
-|    right = [logits(np.full(P, a), np.arange(P)).argmax(1) == table[:, a] for a in range(P)]
-|    print(logits(*pair).argmax() if pair else np.mean(right))
'''


def of_group(formula: GroupFormula) -> str:
    """The text of the program of a formula: the lines for what it has."""
    has = {"-", *_has(formula)}
    lines = [line.partition("|") for line in OF_GROUPS.strip().split("\n")]
    return HEAD + "".join(f"{text}\n" for need, _, text in lines if need in has)


def _has(formula: GroupFormula) -> Iterator[str]:
    clusters = formula.clusters
    parts = {
        "alphas": formula.alphas, "neurons": clusters, "path": formula.path,
        "vectors": [x for x in clusters if x.vectors is not None],
        "along": [x for x in clusters if x.along is not None],
        "matrices": [x for x in clusters if x.along is not None and x.vectors is None],
        "products": [x for x in clusters if any(split(term)[0] == "a, b" for term in x.inputs)],
    }  # fmt: skip
    return (name for name, some in parts.items() if some)
