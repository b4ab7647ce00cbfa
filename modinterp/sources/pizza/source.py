"""Zhong, Liu, Tegmark and Andreas 2023: networks that add modulo 59 by one of two algorithms."""

from modinterp.sources.contract import Source

SOURCE = Source(
    name="pizza",
    package=__package__,
    title="The clock and the pizza: two stories in mechanistic explanation of neural networks",
    citation="Zhong, Liu, Tegmark and Andreas 2023",
    link="https://arxiv.org/abs/2306.17844",
    main_run="pizza/attention-0-0",
    note="Of the paper itself the abstract, the introduction, the released code, its tables and four of its networks "
    "were at hand: section numbers are from memory, and what can be held against neither code nor network is reported "
    "and never refuted.",
)
