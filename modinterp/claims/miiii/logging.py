"""What is logged of a network while it trains."""

from __future__ import annotations

from modinterp.activations.spectra import most_bytes
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.claim import Claim, Value
from modinterp.runs import TrainedRun


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
        needs=("miiii/p113-0",),
    ),
)  # fmt: skip
