"""The source `clock`: a blog post on the Clock algorithm, in which attention and the MLP turn circles."""

from modinterp.sources.contract import Page, Source

SOURCE = Source(
    name="clock",
    package=__package__,
    title="The Clock algorithm and its petals",
    citation="a blog post",
    main_run="clock/no-pos-1",
    pages=(
        Page(
            key="linearity",
            title="Does the MLP do more than an affine map?",
            figures=("linearity", "without_relu", "biases"),
        ),
    ),
)
