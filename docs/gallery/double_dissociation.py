import modinterp as mi
from modinterp.sources.validity import dissociation

# %% double_dissociation
table = dissociation.by_period(mi.measure(mi.load("miiii/p113-half-0")))
panels = {f"functions of one period {change}": dissociation.of_change(table, change) for change in ("without", "alone")}
title = "Each period of the embedding serves its own task"
figure = mi.figures.double_dissociation.double_dissociation(panels, title)
