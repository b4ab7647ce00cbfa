"""Results print what a person wants to read, never the numbers in a tensor."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import walk_packages

import torch

from modinterp import analyses
from modinterp.analyses.fourier.frequencies import key_frequencies
from modinterp.analyses.fourier.neurons import neuron_fits
from modinterp.analyses.fourier.transforms import components_of, fourier_basis
from modinterp.analyses.groups.irreps import Irrep


def test_key_frequencies_say_which_and_show_their_table() -> None:
    keys = key_frequencies(fourier_basis(29)[components_of([2, 5], 29)])
    text = repr(keys)
    assert text.startswith("KeyFrequencies(freqs=(2, 5), gap=")
    assert "norm" in text
    assert "<table" in keys._repr_html_()


def test_a_long_table_is_cut() -> None:
    text = repr(neuron_fits(torch.rand(11, 11, 40, generator=torch.Generator().manual_seed(0), dtype=torch.float64)))
    assert "fraction explained" in text
    assert len(text.splitlines()) < 30


def test_every_result_with_a_tensor_or_a_table_prints_in_short() -> None:
    kinds = [
        kind
        for module in walk_packages(analyses.__path__, "modinterp.analyses.")
        for kind in vars(import_module(module.name)).values()
        if isinstance(kind, type) and is_dataclass(kind) and kind.__module__.startswith("modinterp.analyses")
    ]
    heavy = [k for k in kinds if hasattr(k, "table") or any("Tensor" in str(f.type) for f in fields(k))]
    assert len(heavy) > 15
    named = [Irrep]  # it prints its name, its dimension and its field
    assert {k.__repr__.__module__ for k in heavy if k not in named} == {"modinterp.analyses.printing"}
