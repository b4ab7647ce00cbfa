"""Chughtai, Chan and Nanda 2023: networks that compose the elements of finite groups."""

from modinterp.sources.contract import Source

SOURCE = Source(
    name="groups",
    package=__package__,
    title="A toy model of universality: reverse engineering how networks learn group operations",
    citation="Chughtai, Chan and Nanda 2023",
    link="https://arxiv.org/abs/2302.03025",
    main_run="groups/s5-mlp-2",  # the seed of the authors' mainline
    note="Of the paper itself the abstract, the released code, its tables and some of its networks were at hand: section "
    "numbers are from memory, and what can be held against neither code nor network is reported and never refuted.",
)
