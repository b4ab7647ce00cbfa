import modinterp as mi

explanation = mi.explain(mi.load("sums-29", root="trained"), draws=99)  # the run of the tutorial

# %% among_draws
nulls = explanation.measurements.spectrum_nulls.rows
figure = mi.figures.nulls.among_draws(nulls, "The spectrum of W_L among draws without structure")
