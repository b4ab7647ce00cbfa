"""Project all numbers of a formula from a network's activations and weights; nothing is fitted to the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.fourier.cosine_sums import cosine_coefficients
from modinterp.analyses.fourier.neurons import SMALLEST_CLUSTER, neuron_fits
from modinterp.formulas.formula import Formula
from modinterp.formulas.waves import ACTIVATIONS, TERMS, Path, Waves, circle
from modinterp.measurements import CyclicMeasurements, PairMeasurements
from modinterp.measurements.network import NoSuchPart
from modinterp.models import Wrapped, neuron_inputs

AlongB = Callable[[int], np.ndarray]  # frequency to `along_b` of some functions over pairs
ALIKE = 0.01  # of the energy of the waves of a and b: what the difference of the two may have if a and b are read alike
# What each kind of number is read from; formulas state it.
READ_FROM = {
    "frequency of a neuron": "the largest share of its input's variance over all pairs, among all frequencies",
    "inputs": "the neuron's input over all pairs, projected onto each wave of a and b",
    "outputs": "the neuron's row of W_L = W_out W_U, projected onto the waves of the classes",
    "path": (
        "the logits minus neurons times W_L, projected onto products of a wave of the pair and a wave of the class"
    ),
    "heads": (
        "attention scores of a and of b minus the score of the last position, projected onto waves of a and of b"
    ),
    "values of heads": "rows of W_E W_V W_O W_in of each head, projected onto waves of the residues",
    "halves": (
        "the logits over all pairs, projected together onto cos(w (answer - c)) and onto this cosine times "
        "|cos(w (a - b) / 2)|"
    ),
    "alphas": "the logits over all pairs, projected onto cos(w (answer - c)) of each key frequency",
}


@dataclass(frozen=True, eq=False)
class NeuronReading:
    """The data from which the formulas of a network are written.

    Attributes:
        p, sign, act_fn, names: modulus, sign, nonlinearity and names of the numbers; see `Formula`.
        keys: key frequencies, and other frequencies with five or more neurons. [cycles per p]
        logits: logits of all pairs, `[a, b, class]`.
        pre: inputs of the last layer's neurons, `[a, b, neuron]`.
        W_L: map from neurons to logits, `[neuron, class]`.
        freqs: frequency of each neuron; 0 for a neuron whose input is constant. [cycles per p]
        alike: True if neurons read a and b by the same waves.
    """

    p: int
    sign: int
    act_fn: str
    names: tuple[int, ...]
    keys: tuple[int, ...]
    logits: np.ndarray
    pre: np.ndarray
    W_L: np.ndarray
    freqs: np.ndarray
    alike: bool

    @classmethod
    def of(cls, m: CyclicMeasurements) -> NeuronReading:
        """Read the data for formulas from a network.

        Raises:
            NoSuchPart: the network exposes no neurons, has no W_L, an unknown nonlinearity, or only neurons with
                constant input.
        """
        act_fn, pre = inputs_of(m)
        freqs = neuron_fits(pre).freqs.numpy()
        names = m.basis.cyclic.names if m.basis.cyclic.is_renamed else ()
        found = pre.numpy()[:, np.arange(m.p) * m.sign % m.p]
        sizes = np.bincount(freqs, minlength=m.p)
        keys = tuple(sorted({*m.freqs, *(k for k in (sizes >= SMALLEST_CLUSTER).nonzero()[0].tolist() if k)}))
        reading = cls(m.p, m.sign, act_fn, names, keys, m.logits.double().cpu().numpy(), found,
                      m.W_L.detach().double().cpu().numpy(), freqs, True)  # fmt: skip
        if not (freqs > 0).any():
            raise NoSuchPart(f"no neuron of {m.name} has an input that varies over the pairs")
        return reading if reading._reads_alike() else replace(reading, alike=False)

    @cached_property
    def act(self) -> np.ndarray:
        """The neurons after their nonlinearity, `[a, sign b, neuron]`."""
        return ACTIVATIONS[self.act_fn](self.pre)

    def members(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield each frequency with the indices of its neurons."""
        for freq in sorted(set(self.freqs[self.freqs > 0].tolist())):
            yield freq, (self.freqs == freq).nonzero()[0]

    def _reads_alike(self) -> bool:
        between = whole = 0.0
        for freq, neurons in self.members():
            a, b = (amplitudes(self._along_b, self.p, freq, m)[neurons] for m in ((1, 0), (0, 1)))
            between += float((np.abs(a - b) ** 2).sum() / 2)
            whole += float((np.abs(a) ** 2 + np.abs(b) ** 2).sum())
        return between <= ALIKE * whole

    @property
    def single(self) -> tuple[str, ...]:
        """Names of the input terms that are waves of a, and waves of b."""
        return ("single",) if self.alike else ("first", "second")

    @property
    def double(self) -> tuple[str, ...]:
        """Names of the input terms that are waves of twice the frequency."""
        return ("double",) if self.alike else ("double first", "double second")

    @cached_property
    def _along_b(self) -> AlongB:
        """Return the sums over b of all neurons' inputs times a wave; sums are cached, because several terms share
        them.
        """
        return cache(partial(along_b, self.pre, self.p))

    def inputs(self, freq: int, neurons: np.ndarray, terms: Sequence[str]) -> dict[str, Waves]:
        """Return the waves of some neurons' inputs, without waves that equal other waves at this modulus."""
        found = {}
        for term in terms:
            if not _is_apart(freq, term, self.p):
                continue
            z = amplitudes(self._along_b, self.p, freq, *TERMS[term])[neurons]
            is_real = term == "constant" or (term == "difference" and self.alike)
            found[term] = Waves(z.real) if is_real else Waves.of(z)
        return found

    def outputs(self, freqs: Sequence[int], neurons: np.ndarray) -> dict[int, Waves]:
        """Return the waves of some frequencies over the classes in some neurons' outputs."""
        return {k: Waves.of(along_classes(self.W_L[neurons], self.p, k)) for k in freqs}

    def passing(self) -> np.ndarray:
        """Return the part of the logits that does not come from neurons, `[a, sign b, class]`."""
        return turned_b(self.logits, self.sign) - self.act @ self.W_L

    def empty(self) -> Formula:
        """Return a formula for this network without any terms, to which terms are added."""
        return Formula(self.p, self.sign, self.act_fn, names=self.names)


def inputs_of(m: PairMeasurements) -> tuple[str, Float[Tensor, "a b neuron"]]:
    """Return the nonlinearity of the last neurons, and the neurons' inputs in the order of the basis.

    Raises:
        NoSuchPart: the network exposes no neurons, has no W_L, or has an unknown nonlinearity.
    """
    if not m.has_neurons or m.is_output_only:
        raise NoSuchPart(f"the neurons of {m.name} are not visible, or contribute less than half of its logits")
    if isinstance(m.model, Wrapped):
        found = neuron_inputs(m.model)
        if found is None:
            raise NoSuchPart(f"no module of {m.name} outputs or receives the pre-activations of its neurons")
        act_fn, pre = found[0], m.basis.arranged(found[1].unflatten(0, m.task.grid)).cpu()
    else:
        act_fn, pre = m.model.cfg.act_fn, m.activation(f"{m.last_block}.mlp.hook_pre").double().cpu()
    if act_fn not in ACTIVATIONS:
        raise NoSuchPart(f"no formula is known for the nonlinearity {act_fn}; known are {', '.join(ACTIVATIONS)}")
    return act_fn, pre


def turned_b(grid: np.ndarray, sign: int) -> np.ndarray:
    """Reorder values over `[a, b, ...]` to values over `[a, sign b, ...]`."""
    return grid[:, np.arange(len(grid)) * sign % len(grid)]


def _is_apart(freq: int, term: str, p: int) -> bool:
    """Return True if a term's waves differ from the waves of all earlier terms at this frequency and modulus."""
    if term.startswith("double"):
        return 2 * freq % p != 0 and 3 * freq % p != 0
    return not (term == "difference" and 2 * freq % p == 0)


def along_b(fields: np.ndarray, p: int, freq: int) -> np.ndarray:
    """Return the sums `[a, feature]` over b of functions `[a, b, feature]` times e^(-iwb)."""
    wave = circle(-freq * np.arange(p), p)
    real, imaginary = np.moveaxis(np.stack([wave.real, wave.imag]) @ fields, 1, 0)  # no complex copy of the fields
    return real + 1j * imaginary


def amplitudes(sums: AlongB, p: int, freq: int, *multiples: tuple[int, int]) -> np.ndarray:
    """Return the complex amplitude z of functions over pairs along waves Re(z e^(i w (i a + j b))), averaged over the
    waves.

    Args:
        sums: function from a frequency to the result of `along_b` for the functions.
        multiples: the multiples (i, j) of each wave; all waves share one amplitude.
    """
    x, found = np.arange(p), []
    for i, j in multiples:
        z = circle(-freq * i * x, p) @ sums(freq * j % p) / p**2
        found.append(z if (2 * freq * i % p, 2 * freq * j % p) == (0, 0) else 2 * z)
    return np.mean(found, axis=0)


def along_classes(matrix: np.ndarray, p: int, freq: int) -> np.ndarray:
    """Return the complex amplitudes z of matrix rows over the classes along waves Re(z e^(i w c)).

    Args:
        matrix: a matrix `[..., class]`, whose rows are projected.
    """
    z = matrix @ circle(-freq * np.arange(p), p) / p
    return z if 2 * freq % p == 0 else 2 * z


def paths(logits: np.ndarray, p: int, keys: Sequence[int], terms: Sequence[str]) -> tuple[Path, ...]:
    """Return the waves of some frequencies in logits: each wave of the pair, times the cosine and the sine over the
    classes.

    Args:
        logits: logits `[a, sign b, class]` of all pairs.
    """
    found = []
    for k in keys:
        z = along_classes(logits, p, k)  # [a, b]: Re(z e^iwc) = Re(z) cos(wc) - Im(z) sin(wc)
        sums = cache(partial(along_b, np.stack([z.real, -z.imag], axis=-1), p))
        for term in terms:
            if _is_apart(k, term, p):
                cosine, sine = amplitudes(sums, p, k, *TERMS[term])
                found.append(Path(k, term, complex(cosine), complex(sine)))
    return tuple(found)


def alphas_and_halves(m: CyclicMeasurements) -> tuple[dict[int, float], dict[int, float]]:
    """Return the coefficients of the clock's and the pizza's wave at each key frequency.

    For the answer s, the clock's wave is cos(w (s - c)), and the pizza's wave is abs(cos(w (a - b) / 2)) times this
    cosine. The coefficients of the clock's and the pizza's wave are projections of the logits of all pairs.
    """
    x, found = np.arange(m.p), (dict[int, float](), dict[int, float]())
    logits = turned_b(m.logits.double().cpu().numpy(), m.sign)
    for k in m.freqs:
        along = (along_classes(logits, m.p, k) * circle(k * (x[:, None] + x), m.p)).real
        half = np.abs(np.cos(np.pi * k * (x[:, None] - x) / m.p))
        both = np.stack([np.ones(m.p**2), half.flatten()], axis=1)
        size = np.linalg.lstsq(both, along.flatten(), rcond=None)[0].tolist()
        found[0][k], found[1][k] = size
    return found


def alphas(m: CyclicMeasurements) -> dict[int, float]:
    """Return the coefficient of cos(w (answer - c)) in the logits at each key frequency."""
    found = cosine_coefficients(m.logits, list(m.freqs), m.sign).tolist()
    return dict(zip(m.freqs, found, strict=True))
