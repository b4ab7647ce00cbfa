import modinterp as mi

run = mi.load("sums-29", root="trained")  # that of the tutorial
comparison = mi.compare({"trained": run, "before training": run.at_start()}, draws=99)

# %% spectra
figure = mi.figures.comparison.spectra({name: m.keys.norms for name, m in comparison.waved.items()})

# %% losses_without
losses = {name: m.loss_without_each_block.tolist() for name, m in comparison.waved.items()}
figure = mi.figures.comparison.losses_without(losses, {name: m.own_score.loss for name, m in comparison.waved.items()})
