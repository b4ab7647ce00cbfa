"""Hold templates of the programs that `distill --out` writes: numpy modules that compute a formula from its JSON
file.
"""

from __future__ import annotations

from collections.abc import Iterator

from modinterp.formulas import Formula
from modinterp.formulas.group_formula import GroupFormula, split

MOST_LINES = 45  # of the program after its title; a longer one has single blank lines between functions

HEAD = '''"""{title}

{words}

    python {name}.py 3 5      the answer to one pair
    python {name}.py          the share of all pairs that it answers correctly
"""

{imports}
from pathlib import Path

import numpy as np

'''
# Each line with what a formula must have for it: a letter of `_has_waves`, or `-` for nothing.
OF_WAVES = '''
-|FORMULA = json.loads(Path(__file__).with_suffix(".json").read_text())["formula"]
-|P, SIGN = FORMULA["p"], FORMULA["sign"]
-|NAMES = FORMULA.get("names") or list(range(P))  # the numbers in the order in which they add up
n|act = lambda x: {act}  # the nonlinearity
w|# Multiples (i, j) of each term's waves cos(w (i a + j b) + phase).
w|TERMS = {{"constant": [(0, 0)], "single": [(1, 0), (0, 1)], "first": [(1, 0)], "second": [(0, 1)], "sum": [(1, 1)],
w|         "double": [(2, 0), (0, 2)], "double first": [(2, 0)], "double second": [(0, 2)], "difference": [(1, -1)]}}
-|
-|
-|def wave(freq, steps):  # e^(i w steps)
-|    return np.exp(2j * np.pi * (freq * steps % P) / P)
n|
n|
n|def amplitudes(waves, i, j, phases):  # a wave without a phase follows the neuron's waves of a and b
n|    return np.array(waves["amplitude"]) * np.exp(1j * np.array(waves.get("phase", i * phases[0] + j * phases[1])))
h|
h|
h|def attention(head, a, b):  # to a, to b and to the last position: a softmax of waves
h|    some = zip(head["offsets"], (head["first"], head.get("second", head["first"])), (a, b))
h|    scores = [c + sum((complex(*z) * wave(int(k), x)).real for k, z in waves.items()) for c, waves, x in some]
h|    return np.exp([*scores, 0 * scores[0]]) / (1 + np.exp(scores).sum(axis=0))
-|
-|
-|def logits(a, b):
-|    """Logits of all classes for pairs of places in NAMES, [pair, class]."""
-|    a, b, c = np.atleast_1d(a), SIGN * np.atleast_1d(b), np.arange(P)
-|    total = np.zeros((len(a), P))
a|    for k, alpha in FORMULA["alphas"].items():
d|        half = np.abs(np.cos(np.pi * int(k) * (a - b) / P))[:, None]
d|        alpha = alpha + FORMULA["halves"][k] * half
a|        total += alpha * wave(int(k), (a + b)[:, None] - c).real
h|    heads = [attention(head, a, b) for head in FORMULA["heads"]]
n|    for cluster in FORMULA["clusters"]:
n|        k, inputs, u = cluster["freq"], cluster["inputs"], 0
p|        phases = [np.array(inputs.get(x, inputs.get("single", {{}})).get("phase", 0.0)) for x in ("first", "second")]
h|        phases = [next(np.array(x["phase"]) for x in inputs.values() if "phase" in x)] * 2
p|        for term, waves in inputs.items():  # such as "single", or "single at 35" for waves of another frequency
p|            term, _, other = term.partition(" at ")
p|            z, freq = amplitudes(waves, *TERMS[term][0], phases), int(other or k)
p|            u = u + (sum(wave(freq, i * a + j * b) for i, j in TERMS[term])[:, None] * z).real
h|        for term, waves in inputs.items():  # "head 1": the waves that it mixes; "last of head 1": its attention
h|            kind, _, number = term.rpartition(" ")
h|            to_a, to_b, last = heads[int(number)] if kind else [np.ones(len(a))] * 3
h|            mixed = {{"head": to_a * wave(k, a) + to_b * wave(k, b), "second of head": to_b}}.get(kind, last)
h|            u = u + (mixed[:, None] * amplitudes(waves, int(kind == "head"), 0, phases)).real
n|        for written, waves in cluster["outputs"].items():
n|            total += act(u) @ (amplitudes(waves, 1, 1, phases)[:, None] * wave(int(written), c)).real
t|    for path in FORMULA["path"]:  # what passes the neurons by
t|        x, of_class = sum(wave(path["freq"], i * a + j * b) for i, j in TERMS[path["term"]]), wave(path["freq"], c)
t|        cosine, sine = (np.outer((complex(*path[part]) * x).real, np.ones(P)) for part in ("cosine", "sine"))
t|        total += cosine * of_class.real + sine * of_class.imag
-|    return total
-|
-|
-|if __name__ == "__main__":
-|    b, pair = np.arange(P), [NAMES.index(int(x)) for x in sys.argv[1:]]
-|    right = [logits(np.full(P, a), b).argmax(1) == (a + SIGN * b) % P for a in range(P)]
-|    print(NAMES[logits(*pair).argmax()] if pair else np.mean(right))
'''
# Each line with what a formula must have for it: a letter of `_has`, or `-` for nothing.
OF_GROUPS = '''
-|FORMULA = json.loads(Path(__file__).with_suffix(".json").read_text())["formula"]
-|BLOCKS, TIMES, P = FORMULA["blocks"], np.array(FORMULA["times"]), len(FORMULA["times"][0])
n|act = lambda x: {act}  # the nonlinearity
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
x|    if of == "a, b":
x|        return np.einsum("if,ig->ifg", part("a", name, a, b), part("b", name, a, b)).reshape(len(a), -1)
-|    x = {{"a": RHO[name][a], "b": RHO[name][b], "a b": RHO[name][a] @ RHO[name][b]}}.get(of, np.ones((len(a), 1, P)))
-|    return x[:, :, BLOCKS[name]["columns"] if of != "constant" else [0]].reshape(len(a), -1)
m|
m|def full(name, x):  # the matrices F of coefficients x, with trace(F^T rho(g)) the function that they give
m|    size = RHO[name].shape[1] / P / round((np.trace(RHO[name], axis1=1, axis2=2) ** 2).mean())
m|    return size * np.einsum("gf,nf,gij->nij", part("a", name, *[np.arange(P)] * 2), np.array(x), RHO[name])
-|
-|def logits(a, b):
-|    """Logits of all classes for pairs of elements, [pair, class]."""
-|    a, b, c, total = np.atleast_1d(a), np.atleast_1d(b), np.arange(P), np.zeros((np.size(a), P))
a|    for name, alpha in FORMULA["alphas"].items():  # trace(rho(a) rho(b) rho(c)^T)
a|        total += alpha * np.einsum("iuv,cuv->ic", RHO[name][a] @ RHO[name][b], RHO[name])
n|    for cluster in FORMULA["clusters"]:
n|        own, inputs, constant = RHO[cluster["block"]], cluster["inputs"], np.array(cluster["constant"])
n|        u = sum((part(*term.split(": "), a, b) @ np.array(x).T for term, x in inputs.items()), constant)
n|        w = sum(np.array(x) @ part("a", name, c, c).T for name, x in cluster["outputs"].items())
v|        if "vectors" in cluster:  # x.rho(a) y + y.rho(b) z
v|            x, y, z = (np.array(cluster["vectors"][k]) for k in "xyz")
v|            A, B = x[:, :, None] * y[:, None], y[:, :, None] * z[:, None]
v|            u = u + np.einsum("nij,gij->gn", A, own)[a] + np.einsum("nij,gij->gn", B, own)[b]
m|        if "along" in cluster and "vectors" not in cluster:
m|            A, B = (full(cluster["block"], inputs[f"{{of}}: {{cluster['block']}}"]) for of in "ab")
l|        if "along" in cluster:  # a size along the product of the matrices of a and b
l|            AB = A @ B / np.linalg.norm(A @ B, axis=(1, 2), keepdims=True)
l|            w = w + np.array(cluster["along"])[:, None] * np.einsum("nij,cij->nc", AB, own)
n|        total += act(u) @ w
t|    for path in FORMULA["path"]:  # what passes the neurons by
t|        total += part(path["term"], path["block"], a, b) @ path["coefficients"] @ part("a", path["block"], c, c).T
-|    return total
-|
-|if __name__ == "__main__":
-|    table, pair = products(np.arange(P), lambda x, place: TIMES[place][x]), [int(x) for x in sys.argv[1:]]
-|    right = [logits(np.full(P, a), np.arange(P)).argmax(1) == table[:, a] for a in range(P)]
-|    print(logits(*pair).argmax() if pair else np.mean(right))
'''


def template(formula: Formula | GroupFormula) -> str:
    """Return the program text for a formula, with lines only for the terms that the formula has."""
    text, has = (OF_WAVES, _has_waves(formula)) if isinstance(formula, Formula) else (OF_GROUPS, _has(formula))
    some = {"-", *has}
    lines = [line.partition("|") for line in text.strip().split("\n")]
    chosen = [line for need, _, line in lines if need in some]
    single = [line for line, before in zip(chosen, ["-", *chosen], strict=False) if line or before]
    return HEAD + "".join(f"{line}\n" for line in (single if len(chosen) > MOST_LINES else chosen))


def _has_waves(formula: Formula) -> Iterator[str]:
    plain = formula.clusters and not formula.heads
    parts = {
        "a": formula.alphas, "n": formula.clusters, "t": formula.path, "h": formula.heads, "p": plain,
        "w": formula.path or plain, "d": formula.halves,
    }  # fmt: skip
    return (name for name, some in parts.items() if some)


def _has(formula: GroupFormula) -> Iterator[str]:
    clusters = formula.clusters
    parts = {
        "a": formula.alphas, "n": clusters, "t": formula.path,
        "v": [x for x in clusters if x.vectors is not None],
        "l": [x for x in clusters if x.along is not None],
        "m": [x for x in clusters if x.along is not None and x.vectors is None],
        "x": [x for x in clusters if any(split(term)[0] == "a, b" for term in x.inputs)],
    }  # fmt: skip
    return (name for name, some in parts.items() if some)
