import modinterp as mi

m = mi.measure(mi.load("nanda/mainline-0"))

# %% diagram
figure = mi.figures.algorithm.diagram(m.freqs, m.logit_fit.alphas, m.p)

# %% dials
figure = mi.figures.algorithm.dials(m.freqs, m.logit_fit.alphas, m.p, a=70)
