import pandas as pd

import modinterp as mi

runs = {name: mi.load(name) for name in ("nanda/mainline-0", "mlp/kissane-0")}
distilled = {name: mi.distill(run) for name, run in runs.items()}

# %% ladder
d = distilled["nanda/mainline-0"]
title = "Formulas answer as the network does with a twentieth of the numbers that a cut network needs"
curve = d.curve(bits=False, parts=False)
baselines = pd.DataFrame({"kind": x.kind, "numbers": x.numbers, **vars(x.faithfulness)} for x in d.baselines.drawn())
figure = mi.figures.ladder.ladder(curve, baselines, title)

# %% ladders
curves = {name: d.curve(bits=False) for name, d in distilled.items()}
figure = mi.figures.ladder.ladders(curves, "A percent of the numbers is enough, once the waves that matter are known")
