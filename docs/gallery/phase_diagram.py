import pandas as pd

import modinterp as mi

m = mi.measure(mi.load("nanda/mainline-0"))
rows = []
for name in ("nanda/mainline-0", "circuits/add-0"):
    each = mi.measure(mi.load(name))
    rate, width = each.model.cfg.attention_rate, each.model.cfg.d_model
    rows.append((name, rate, width, each.symmetricity_over_pairs, each.irrelevance.correct))
table = pd.DataFrame(rows, columns=["run", "rate", "width", "symmetricity", "irrelevance"])

# %% phase_diagram
figure = mi.figures.phase_diagram.phase_diagram(table, "Networks by attention rate, width and symmetricity")

# %% rates
figure = mi.figures.phase_diagram.rates(table, "With softmax attention networks are nearer the clock")

# %% formula_maps
figure = mi.figures.phase_diagram.formula_maps(
    59, 3, ("clock", "pizza"), "A clock's correct logit is one number, a pizza's dies"
)

# %% distance_profiles
profiles = {one.freq: m.isolation.profile(one).values for one in m.isolation.leading_circles}
figure = mi.figures.phase_diagram.distance_profiles(
    profiles, "The correct logit of one circle by the distance of a and b"
)

# %% component_variances
figure = mi.figures.phase_diagram.component_variances(
    {m.name: m.isolation.component_circles}, 0.02, "A few circles hold the embedding"
)
