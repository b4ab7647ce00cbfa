import torch

import modinterp as mi
from modinterp.analyses.circles.petals import mixture, pullback
from modinterp.analyses.fourier.transforms import component_norms, frequency_norms

m = mi.measure(mi.load("clock/no-pos-1"))
c = m.circles

# %% heads_by_planes
measured, predicted, names = {}, {}, {}
for fit in c.petals:
    reader, _ = pullback(m.W_V[fit.head], c.planes[fit.embedding])
    key = fit.head, fit.embedding
    measured[key] = c.head_values[:, fit.head] @ reader
    predicted[key] = mixture(c.attention_share[:, fit.head], c.token_values[fit.head] @ reader, c.fixed_a)
    names[key] = f"head {fit.head}, plane {fit.embedding}"
figure = mi.figures.petals.heads_by_planes(measured, predicted, names, "Each head traces the petals that are predicted")

# %% sums
heads = {k: [c.head_outputs[:, head] @ image for head in range(m.n_heads)] for k, image in c.carried_planes.items()}
together = {k: m.activation("blocks.0.hook_attn_out")[c.fixed_a] @ image for k, image in c.carried_planes.items()}
figure = mi.figures.petals.sums(heads, together, [freq for freq, _ in c.tuning])

# %% attention_swing
to_a = m.pattern[c.fixed_a, :, :, 0]
norms = torch.stack([frequency_norms(component_norms(to_a[:, [head]])) for head in range(m.n_heads)], dim=1)
figure = mi.figures.petals.attention_swing(to_a, norms, [freq for freq, _ in c.tuning], c.fixed_a)

# %% family
figure = mi.figures.petals.family()
