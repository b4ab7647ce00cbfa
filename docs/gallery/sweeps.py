import pandas as pd

import modinterp as mi
from modinterp.analyses.training.phases import first_epoch

shares = {share: mi.load(f"nanda/fraction-{share}-0").history for share in (40, 60, 90)}
m = mi.measure(mi.load("nanda/mainline-0"))

# %% sweep
groups = {f"{share}%": [history] for share, history in shares.items()}
figure = mi.figures.sweeps.sweep(groups, "The more data, the sooner it generalises", log_epochs=True)

# %% thresholds
rows = [
    {
        "fraction": share / 100,
        "split": split,
        "loss": 1e-4,
        "epochs": first_epoch(h["epoch"], h[f"{split}_loss"] < 1e-4),
    }
    for share, h in shares.items()
    for split in ("train", "test")
]
figure = mi.figures.sweeps.thresholds(pd.DataFrame(rows), "Epochs until a loss of 1e-4, by the share of the pairs")

# %% measures_of_seeds
columns = {"test_loss": ("test loss", "#d1495b"), "excluded_loss_train": ("excluded loss", "#7b5ea7")}
figure = mi.figures.sweeps.measures_of_seeds(
    {m.name: m.progress}, columns, "Excluded loss rises before test loss falls"
)

# %% summaries
row = {"Gini of W_E": m.summary.gini_W_E, "logit FVE": m.summary.logit_fve}
table = pd.DataFrame([{"setting": "mod 113", "row": "1", "whose": "ours"} | row])
figure = mi.figures.sweeps.summaries(table, "A sparse embedding, and logits of a few waves")

# %% skips
row = {"mean loss": m["loss"], "mean ablated loss": m.ablated("skip around MLP mean").loss}
table = pd.DataFrame([{"setting": "mod 113", "whose": "ours"} | row])
figure = mi.figures.sweeps.skips(table, "What goes around the last MLP hardly matters")
