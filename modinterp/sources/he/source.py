"""The source `he`: He, Wang, Chen and Yang 2026, on how one-hot networks without biases choose their frequencies."""

from modinterp.sources.contract import Source

SOURCE = Source(
    name="he",
    package=__package__,
    title="On the Mechanism and Dynamics of Modular Addition: Fourier Features, Lottery Ticket, and Grokking",
    citation="He, Wang, Chen & Yang 2026",
    link="https://arxiv.org/abs/2602.16849",
    main_run="he/std-42",
    note="The recipes come from the released code and networks; the text of the paper was not available. The "
    "source's statements come from the paper's abstract, the authors' post and the authors' notebooks. We chose "
    "tolerances after seeing the authors' networks and pilots of seeds 1, 2, 3 and 42, but before seeing seeds "
    "4 to 22.",
)
