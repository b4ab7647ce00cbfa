import modinterp as mi

run, variant = mi.load("nanda/mainline-0"), mi.load("nanda/rounding-1")

# %% curves
figure = mi.figures.history.curves({run.name: run.history})

# %% partings
distances = variant.progress[["epoch", "distance_from_unmoved"]].dropna()
distances = distances.rename(columns={"distance_from_unmoved": "distance"})
figure = mi.figures.history.partings({variant.name: distances}, "One unit in the last place, and the ways part")
