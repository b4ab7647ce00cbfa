import modinterp as mi
from modinterp.analyses.fourier.transforms import component_norms, transform_2d

m = mi.measure(mi.load("mlp/kissane-0"))
seeds = {name: mi.measure(mi.load(f"mlp/{name}")) for name in ("kissane-0", "other-draw-1")}

# %% spectra
figure = mi.figures.fourier.spectra({"W_E": component_norms(m.W_E), "W_U": component_norms(m.W_L.T)}, m.freqs)

# %% spectra_of_runs
norms = {name: component_norms(each.W_E) for name, each in seeds.items()}
freqs = {name: each.freqs for name, each in seeds.items()}
figure = mi.figures.fourier.spectra_of_runs(norms, freqs, "Every seed has frequencies of its own")

# %% norm_maps
fields = {"before the ReLU": m.pre, "after it": m.post, "logits": m.logits}
maps = {name: transform_2d(field - field.mean(dim=(0, 1))).norm(dim=-1) for name, field in fields.items()}
figure = mi.figures.fourier.norm_maps(maps, "Waves go in, waves and products come out, products are read")
