import torch

import modinterp as mi
from modinterp.analyses.order.sorting import token_swap

m = mi.measure(mi.load("circuits/sort-small-0"))

# %% ranks
figure = mi.figures.sorting.ranks(m.ranks, "Mean attention of each output to the number of each rank")

# %% swaps
swaps, generator = [], torch.Generator().manual_seed(0)
for rank in range(1, m.n):  # another number in place of the one said before
    inputs = m.uniform.inputs[:500].clone()
    inputs[:, m.n + rank] = torch.randint(m.limit, (len(inputs),), generator=generator)
    answers = m.logits_on(inputs)[:, rank].argmax(dim=1)
    swaps.append(token_swap(answers, inputs[:, : m.n], inputs[:, m.n + rank], rank))
figure = mi.figures.sorting.swaps(swaps)

# %% scores
tokens = [m.limit] + [m.limit // 2] * (m.task.n_read - 1)
queries = [m.lookups.query_position(m.n + output, token) for output, token in enumerate(tokens)]
by_output = torch.stack([query.scores[: m.n, : m.limit].mean(dim=0) for query in queries])
figure = mi.figures.sorting.scores(by_output)
