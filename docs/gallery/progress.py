import modinterp as mi

m = mi.measure(mi.load("nanda/mainline-0"))
seeds = {"seed 0": m, "mod 109": mi.measure(mi.load("nanda/p109-0"))}

# %% measures
figure = mi.figures.progress.measures(m.progress, m.phases)

# %% forming
figure = mi.figures.progress.forming(m.history, m.progress, "The restricted loss falls first")

# %% restricted_accuracy
figure = mi.figures.progress.restricted_accuracy(m.progress)

# %% coefficients
figure = mi.figures.progress.coefficients(m.progress, m.freqs)

# %% single_exclusion
figure = mi.figures.progress.single_exclusion(m.progress, m.freqs)

# %% losses
figure = mi.figures.progress.losses({n: s.progress for n, s in seeds.items()}, {n: s.phases for n, s in seeds.items()})

# %% ginis
figure = mi.figures.progress.ginis({n: s.progress for n, s in seeds.items()}, {n: s.phases for n, s in seeds.items()})

# %% largest_exclusion
figure = mi.figures.progress.largest_exclusion(m.progress, m.largest_exclusion)
