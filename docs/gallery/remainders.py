import modinterp as mi
from modinterp import tasks
from modinterp.analyses.training.generalisation import infinite_if_never

task = tasks.PrimeRemainders(11)
m = mi.measure(mi.load("miiii/p23-0"))
large = mi.measure(mi.load("miiii/p113-half-0"))

# %% inputs
figure = mi.figures.remainders.inputs(task.numbers().view(11, 11))

# %% labels
panels = {f"remainder by {q}": task.labels()[:, i].view(11, 11) for i, q in enumerate(task.output_sizes)}
figure = mi.figures.remainders.labels(panels)

# %% over_training
parts = {"trained on": m.questions.curve("train_accuracy"), "held out": m.questions.curve("test_accuracy")}
primes = [str(q) for q in m.task.output_sizes]
figure = mi.figures.remainders.over_training(
    m.history["epoch"].tolist(), parts, primes, "accuracy", "Small primes first"
)

# %% active_frequencies
counts = {"above the mean by one deviation": large.questions.active_over_training(1)}
figure = mi.figures.remainders.active_frequencies(
    large.questions.logged_spectra.epochs.tolist(), large.questions.logged_norms, counts
)

# %% trends
epochs = infinite_if_never(m.questions.learning_times.generalised)
last = float(m.history["epoch"].iloc[-1])
figure = mi.figures.remainders.trends({"p = 23": dict(zip(m.task.output_sizes, epochs, strict=True))}, {"p = 23": last})

# %% sizes
row = {"effective rank / p": large.effective_rank / large.p, "Gini coefficient of W_E": large.embedding_gini}
figure = mi.figures.remainders.sizes(["113"], [row])
