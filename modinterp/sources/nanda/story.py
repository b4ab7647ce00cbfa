"""Define the opening sentences of the page on Nanda et al. 2023."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "A small transformer that adds modulo 113 memorises its training pairs long before it can add: here"
        " its test accuracy jumps at epoch {fig2.left.accuracy[grokked]:,.0f} (the paper: "
        "{fig2.left.accuracy!s}); the claim {fig2.left.accuracy}.",
        "When test accuracy jumps, the network has already learned waves: {fig3.right[n_keys]:.0f} "
        "frequencies hold {fig3.right[key_energy]:.1%} of what the neurons write to the logits (the paper: "
        "{fig3.right!s}). The statement that a few frequencies suffice {fig3.right}.",
        "The network adds by adding angles: one number for each frequency, times cos w(a + b - c), explains"
        " {s42.logit_fve[logit_fve]:.1%} of the logits (the paper: {s42.logit_fve!s}); the claim "
        "{s42.logit_fve}.",
        (
            "The network needs only its key frequencies: without them the loss is {abstract.other95[loss "
            "without key frequencies]:.2f}, worse than guessing, and without all other frequencies the loss is "
            "{abstract.other95[loss over original, without all others]:.0%} of the original loss; the claim "
            "{abstract.other95}."
        ),
        "The network learns its algorithm before the test loss falls: restricted to its key frequencies, "
        "the network has a low loss {fig7.tr[epochs by which restricted is below 1 before test]:,.0f} "
        "epochs earlier; the claim {fig7.tr}.",
    ),
    figures=("curves", "spectra", "progress"),
)
