"""The source `pizza`: Zhong, Liu, Tegmark and Andreas 2023, on networks that add modulo 59 by one of two algorithms."""

from modinterp.sources.contract import Source

SOURCE = Source(
    name="pizza",
    package=__package__,
    title="The clock and the pizza: two stories in mechanistic explanation of neural networks",
    citation="Zhong, Liu, Tegmark and Andreas 2023",
    link="https://arxiv.org/abs/2306.17844",
    main_run="pizza/attention-0-0",
    note="We had the paper's abstract and introduction, its released code and tables, and four of its networks. "
    "Section numbers are from memory. A statement that neither code nor network lets us test is reported and "
    "never refuted.",
)
