"""The source `validity`: a public audit of the claim that networks add by circles, answered criterion by criterion."""

from modinterp.sources.contract import Source

SOURCE = Source(
    name="validity",
    package=__package__,
    title="Mechanistic validity of grokking",
    citation="a public audit",
    link="https://github.com/mechanistic-validity/mechanistic-validity",
    main_run="nanda/mainline-0",
    note="This is a self-audit: the criteria come from another project, and the networks, measurements and "
    "tolerances are ours. Nobody else has checked this self-audit. Most networks come from other sources; we "
    "trained four for this page.",
)
