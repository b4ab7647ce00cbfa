"""What is logged of a network while it trains."""

from __future__ import annotations

import torch

from modinterp.activations.spectra import most_bytes
from modinterp.analyses.frequencies import active_frequencies
from modinterp.analyses.neuron_spectra import logged_norms
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.claim import Claim, Value
from modinterp.claims.miiii.evidence import CODED
from modinterp.runs import NotRecorded, TrainedRun

EARLY = 1024  # epochs; none is active by then in the source


def _log(run: TrainedRun) -> dict[str, Value]:
    log = run.spectra
    if log is None:
        return {"entries": 0, "neurons": 0, "size of a spectrum beside p (p // 2 + 1)": 0, "bytes beside the bound": 0}
    p, nan = run.task.heads[-1] if run.task.grid is None else run.task.grid[0], float("nan")
    steps, fields, *spectrum = log.full().shape
    tensors, _ = log.packed()
    neurons = sum("hook_post" in name for name in log.names)
    return {
        "entries": steps,
        "neurons": neurons,
        "size of a spectrum beside p (p // 2 + 1)": spectrum[0] * spectrum[1] / (p * (p // 2 + 1)),
        "bytes beside the bound": sum(x.numel() * x.element_size() for x in tensors.values())
        / most_bytes(steps, fields),
        "fields of attention": fields - neurons,
        "largest number of epochs between two entries": int(log.epochs.diff().max()) if steps > 1 else nan,
        "median share of the energy that is kept, at the start": float(log.share_kept()[0].nanmedian())
        if steps
        else nan,
        "the same at the end": float(log.share_kept()[-1].nanmedian()) if steps else nan,
    }


def _active(run: TrainedRun) -> dict[str, Value]:
    if run.spectra is None:
        raise NotRecorded(f"no spectra of {run.name} were logged")
    norms, early = logged_norms(run.spectra), run.spectra.epochs <= EARLY
    counts = {of: torch.tensor([len(active_frequencies(row, of)) for row in norms]) for of in (1, 2)}
    return {
        "most at once, less those at the end": int(counts[2].max() - counts[2][-1]),
        f"most by epoch {EARLY:,}": int(counts[2][early].max()),
        "most at once": int(counts[2].max()),
        "epoch of that": int(run.spectra.epochs[counts[2].argmax()]),
        "at the end": int(counts[2][-1]),
        "most at once, above the mean by one deviation": int(counts[1].max()),
        "epoch of that, above the mean by one deviation": int(run.spectra.epochs[counts[1].argmax()]),
        f"most by epoch {EARLY:,}, above the mean by one deviation": int(counts[1][early].max()),
        "at the end, above the mean by one deviation": int(counts[1][-1]),
    }


CLAIMS = (
    Claim(
        "miiii.neuron_logging",
        "training",
        "Activations of neurons are logged while the network trains. "
        "Here it is the strongest waves of their 2D spectra, and of the attention's, every so many epochs.",
        "logged at every step",
        _log,
        {
            "entries": at_least(2, "the first is of the network before it is trained"),
            "neurons": at_least(1, "the first few neurons"),
            "size of a spectrum beside p (p // 2 + 1)": equals(1, "a real transform of the grid of all p x p inputs"),
            "bytes beside the bound": at_most(1, "the stated bound on what so many entries take"),
        },
        needs=(CODED,),
    ),
    Claim(
        "miiii.x.active_freqs",
        "table 3",
        "Active frequencies of the neurons are none at first, most of all while the tasks are learned, and fewer at the end.",
        "0, 0, 10, 18 and 10 at epochs 256, 1,024, 4,096, 16,384 and 65,536",
        _active,
        {
            "most at once, less those at the end": at_least(1, "18 and 10 in the source; fewer at all"),
            f"most by epoch {EARLY:,}": at_most(2, "none in the source, two of grace"),
        },
        needs=(CODED,),
        figure="active",
    ),
)  # fmt: skip
