import modinterp as mi
from modinterp import tasks
from modinterp.analyses.groups.characters import conjugacy_classes
from modinterp.analyses.groups.irreps import irrep
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
losses = {rho.name: (m.neurons_loss_without((rho,)), m.loss_of(m.logits_of_products((rho,)))) for rho in m.irreps[1:]}
figure = mi.figures.representations.losses(losses, m.loss_of(m.logits), "Without a key representation it fails")

# %% counts
sizes = {f"by {of}": [found.sizes(m.irreps).get(name, 0) for name in names] for of, found in m.neurons.items()}
figure = mi.figures.representations.counts(sizes, names, "neurons", "Each neuron is of one representation")

# %% prevalence
shares = {name: Share(int(name in m.key_names), 1) for name in names[1:]}
figure = mi.figures.representations.prevalence({"A5, MLP": shares}, "Which representations networks learn")

# %% over_training
title = "The key representations grow long before the test loss falls"
figure = mi.figures.representations.over_training(m.progress, m.key_names, title)

# %% by_class
classes = {m.task.written(members[0]): members for members in conjugacy_classes(m.task)}
title = "The logit of c depends on the class of a b c^-1, and is largest where c = a b"
figure = mi.figures.representations.by_class(m.logit_by_quotient, m.formula_by_quotient, classes, title)

# %% matrices
group = tasks.Group("S5")
rho = irrep(group, "standard")
shown = {group.written(g): rho.matrices[g] for g in (0, 1, 7, 32)}
figure = mi.figures.representations.matrices(shown, "Permutations as rotations and reflections")
