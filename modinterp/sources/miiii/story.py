"""Define the opening sentences of the page on Syrkis & Søgaard 2024."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "One network learns the remainders of a number of two digits by all {count29[primes below 113]:.0f} primes "
        "below 113 at once. The network solves {fig5.accuracy[tasks with a test accuracy of 0.99]:.0f} of these tasks "
        "with an accuracy of 99% (the paper: {fig5.accuracy!s}); the paper's statement that all tasks generalise "
        "{fig5.accuracy}.",
        "The tasks of the primes from 11 on generalise together, which suggests that they share a mechanism; this "
        "statement {25_together}.",
        "The embedding of modular addition has a few active frequencies (the paper: {fig11!s}, here {fig11[active "
        "frequencies]:.0f}); this statement {fig11}.",
        "The embedding for remainders has a much broader spectrum, with {fig12[frequencies above a quarter of the "
        "largest, T_miiii over T_nanda]:.1f} times as many strong frequencies; this statement {fig12}.",
        "The embedding's frequencies come from the data: a network trained on shuffled labels has none; this "
        "statement {fig13}.",
    ),
    figures=("accuracy", "spectrum_nanda", "spectrum_miiii"),
)
