"""The source `mlp`: Kissane's notebook on modular addition in a network without attention."""

from modinterp.sources.contract import Source

SOURCE = Source(
    name="mlp",
    package=__package__,
    title="Modular addition with a one-hidden-layer MLP",
    citation="Kissane's notebook",
    main_run="mlp/kissane-0",
)
