"""What the page of Syrkis & Søgaard 2024 begins with."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "One network learns the remainders of a number of two digits by all {count29[primes below 113]:.0f} primes below 113 at once; "
        "it gets {fig5.accuracy[tasks with a test accuracy of 0.99]:.0f} of them right to 99% (the paper: {fig5.accuracy!s}); "
        "what the paper says of this {fig5.accuracy}.",
        "The tasks of the primes from 11 on generalise together, which suggests that they share what they do; this {25_together}.",
        "The embedding of modular addition has a few active frequencies (the paper: {fig11!s}, here "
        "{fig11[active frequencies]:.0f}); this {fig11}.",
        "That of the remainders is much broader, with {fig12[frequencies above a quarter of the largest, T_miiii over T_nanda]:.1f} "
        "times as many strong frequencies; this {fig12}.",
        "The frequencies come from the data: trained on shuffled labels the embedding has none; this {fig13}.",
    ),
    figures=("accuracy", "spectrum_nanda", "spectrum_miiii"),
)
