import torch

import modinterp as mi
from modinterp.analyses.attention.trigrams import direct_path

# %% digits
m = mi.measure(mi.load("nanda/digits-endless-0"))
figure = mi.figures.sequences.digits(
    [m.history], m.task.output_names, "Each digit of a long sum is learned in a drop of its own"
)

# %% composition
m = mi.measure(mi.load("nanda/repeated-endless-0"))
title = "An induction head and a head of the previous token"
figure = mi.figures.sequences.composition(m.previous, m.induction(latest=False), m.losses_without, title)

# %% direct_paths
m = mi.measure(mi.load("nanda/trigram-endless-0"))
n = m.task.output_sizes[0]
figure = mi.figures.sequences.direct_paths(
    direct_path(m.model, torch.arange(n, 2 * n)), "The heads copy what they attend to"
)
