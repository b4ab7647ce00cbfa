import modinterp as mi
from modinterp.figures.prevalence import prevalence_table

source = mi.source("mlp")
measured = {name: mi.measure(mi.load(name)) for name in source.runs}
results = [source[claim].check_available(measured) for claim in ("neurons_9_terms", "key_freqs", "claim84")]

# %% prevalence
figure = mi.figures.prevalence.prevalence([prevalence_table(results)])
