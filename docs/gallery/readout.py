import modinterp as mi

m = mi.measure(mi.load("nanda/mainline-0"))
seeds = {f"seed {seed}": mi.measure(mi.load(f"mlp/kissane-{seed}")) for seed in range(2)}

# %% readoff
figure = mi.figures.readout.readoff(m.readoff)

# %% readoff_of_runs
figure = mi.figures.readout.readoff_of_runs({name: each.readoff for name, each in seeds.items()})

# %% margins
figure = mi.figures.readout.margins(m.p, m.freqs)
