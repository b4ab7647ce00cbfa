import modinterp as mi

m = mi.measure(mi.load("nanda/mainline-0"))

# %% periodic
norms = m.spectrum_energy.sqrt()
norms[0, 0] = 0  # the constant, which would outshine the rest
names = ("head 0 attends to a", "neuron 0", "logits, norm over answers")
figure = mi.figures.grids.periodic(m.pattern[:, :, 0, 0], m.post[..., 0], norms, names)

# %% maps
fields = {f"head {h.head}: frequency {h.freq}": m.pattern[:, :, h.head, 0] for h in m.heads.heads}
figure = mi.figures.grids.maps(fields, "attention to a", "Attention is periodic in a and b", zmax=1)
