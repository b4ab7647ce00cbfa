import torch

import modinterp as mi
from modinterp.analyses.fourier.transforms import component_norms, transform

m = mi.measure(mi.load("nanda/mainline-0"))

# %% lookup_spectrum
figure = mi.figures.attention.lookup_spectrum(transform(m.tables), m.roles.freqs)

# %% ov_spectrum
norms = torch.stack([component_norms(ov) for ov in m.ov], dim=1)
figure = mi.figures.attention.ov_spectrum(norms, m.roles.ov_freqs)
