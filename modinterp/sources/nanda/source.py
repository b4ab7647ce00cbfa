"""The source `nanda`: Nanda et al. 2023, on how a transformer adds modulo 113, and on progress that its test loss
hides.
"""

from modinterp.sources.contract import Source

SOURCE = Source(
    name="nanda",
    package=__package__,
    title="Progress measures for grokking via mechanistic interpretability",
    citation="Nanda et al. 2023",
    link="https://arxiv.org/abs/2301.05217",
    main_run="nanda/mainline-0",
)
