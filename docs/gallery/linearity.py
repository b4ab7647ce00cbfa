import modinterp as mi

m = mi.measure(mi.load("clock/no-pos-1"))

# %% battery
figure = mi.figures.linearity.battery({m.name: m.circles.mlp_linearity})
