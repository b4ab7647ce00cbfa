import modinterp as mi
from modinterp.analyses.circles.symmetry import correct_logits

m = mi.measure(mi.load("nanda/mainline-0"))

# %% correct_logits
field = correct_logits(m.logits)
figure = mi.figures.symmetry.correct_logits(field, "a - b", "The distance hardly shows in a clock's correct logit")
