import modinterp as mi

m = mi.measure(mi.load("nanda/mainline-0"))
seeds = {name: mi.measure(mi.load(f"mlp/{name}")) for name in ("kissane-0", "other-draw-1")}

# %% readoff
figure = mi.figures.readout.readoff(m.readoff)

# %% readoff_of_runs
figure = mi.figures.readout.readoff_of_runs({name: each.readoff for name, each in seeds.items()})

# %% margins
figure = mi.figures.readout.margins(m.p, m.freqs)
