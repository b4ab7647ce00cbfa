import modinterp as mi
from modinterp.analyses.order import bounds
from modinterp.analyses.order.largest_number import gap_means, mass_on

m = mi.measure(mi.load("circuits/max-balanced-0"))
sort = mi.measure(mi.load("circuits/sort-0"))
EDGES = (0, 1, 2, 3, 5, 10, 20, 50)

# %% learning
figure = mi.figures.ordering.learning({"max": m.history, "sort": sort.history})

# %% accuracies
figure = mi.figures.ordering.accuracies({"max": {"uniform numbers": m.accuracy, "small numbers": m.small_accuracy}})

# %% cosine_maps
figure = mi.figures.ordering.cosine_maps(
    {m.name: m.positions}, "position", "The inputs' positions are alike, that of CLS is not"
)

# %% by_gap
largest = mass_on(m.pattern, m.numbers == m.numbers.amax(dim=1, keepdim=True)).mean(dim=1)
attention = {"all heads": gap_means(largest, m.gap, EDGES)}
accuracy = {"network": gap_means(m.correct_first(m.logits[:, 0]), m.gap, EDGES)}
figure = mi.figures.ordering.by_gap(attention, accuracy, "A clear largest number takes nearly all attention")

# %% scores
figure = mi.figures.ordering.scores(m.scores, m.score_lines)

# %% dimensions
keys, queries = (x[: m.n, : m.limit].mean(dim=0)[:, 0] for x in (m.lookups.keys, m.lookups.queries))
figure = mi.figures.ordering.dimensions(keys, queries, head=0)

# %% tables
figure = mi.figures.ordering.tables(sort.mutual_scores, "Sort: numbers just above the one said before score highest")

# %% copy_margins
figure = mi.figures.ordering.copy_margins(m.copying, first=m.smallest_number)

# %% robustness
figure = mi.figures.ordering.robustness({"max": m.tolerance})

# %% proven_shares
proof = bounds.accuracy_bound(m.model, m.task, boxes=300)
figure = mi.figures.ordering.proven_shares(proof, m.accuracy)

# %% widths
losses = {}
for width in (16, 64, 256):
    history = mi.load(f"circuits/median-width-{width}-0").history
    losses[width] = [float(history["test_loss"].iloc[-1])]
figure = mi.figures.ordering.widths({"median": losses})
