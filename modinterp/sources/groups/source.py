"""The source `groups`: Chughtai, Chan and Nanda 2023, on networks that compose the elements of finite groups."""

from modinterp.sources.contract import Source

SOURCE = Source(
    name="groups",
    package=__package__,
    title="A toy model of universality: reverse engineering how networks learn group operations",
    citation="Chughtai, Chan and Nanda 2023",
    link="https://arxiv.org/abs/2302.03025",
    main_run="groups/s5-mlp-2",  # the seed of the authors' mainline
    note="We had the paper's abstract, its released code and tables, and some of its networks. Section numbers are "
    "from memory. A statement that neither code nor network lets us test is reported and never refuted.",
)
