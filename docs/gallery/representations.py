import modinterp as mi
from modinterp import tasks
from modinterp.analyses.groups.irreps import irreps
from modinterp.claims.prevalence import Share

m = mi.measure(mi.load("groups/a5-mlp-1"))
names = [rho.name for rho in m.irreps]

# %% similarities
title = "The logits are characters of a few representations"
figure = mi.figures.representations.similarities(m.similarities, names, m.least_similarity, title)

# %% shares
layers = {name: list(m.shares(matrix).values()) for name, matrix in m.embeddings.items()}
figure = mi.figures.representations.shares(layers, names, "The embeddings hold the key representations")

# %% losses
losses = {rho.name: (m.excluded_loss_of((rho,)), m.loss_of(m.logits_of_products((rho,)))) for rho in m.irreps[1:]}
figure = mi.figures.representations.losses(losses, m.loss_of(m.logits), "Without a key representation it fails")

# %% counts
sizes = {f"by {of}": [found.sizes(m.irreps).get(name, 0) for name in names] for of, found in m.neurons.items()}
figure = mi.figures.representations.counts(sizes, names, "neurons", "Each neuron is of one representation")

# %% prevalence
shares = {name: Share(int(name in m.key_names), 1) for name in names[1:]}
figure = mi.figures.representations.prevalence({"A5, MLP": shares}, "Which representations networks learn")

# %% over_training
columns = {name: [0.0, float(value)] for name, value in zip(names, m.similarities, strict=True)}
figure = mi.figures.representations.over_training([0, 250_000], columns, "Representations come one after the other")

# %% matrices
group = tasks.Group("S5")
rho = next(rho for rho in irreps(group) if rho.name == "standard")
shown = {group.written(g): rho.matrices[g] for g in (0, 1, 7, 32)}
figure = mi.figures.representations.matrices(shown, "Permutations as rotations and reflections")
