import modinterp as mi
from modinterp.analyses.fourier.ablations import restricted_loss

m = mi.measure(mi.load("nanda/mainline-0"))

# %% per_frequency
keys_alone = restricted_loss(m.logits, m.labels, m.freqs, "products")
figure = mi.figures.ablations.per_frequency(
    m.loss_without_each["products"], m.ablated("original").loss, keys_alone, m.freqs
)

# %% interventions
figure = mi.figures.ablations.interventions(m.ablations)

# %% keys_and_others
reported = {"seed 1": (3.11e-7, 6.5, 5.4e-8)}  # what is to stand beside your numbers
figure = mi.figures.ablations.keys_and_others({"seed 1": m.test_losses}, reported)
