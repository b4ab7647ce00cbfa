"""The source `miiii`: Syrkis & Søgaard 2024, on networks that give the remainders of one number by many primes at once."""

from modinterp.sources.contract import Source

SOURCE = Source(
    name="miiii",
    package=__package__,
    title="Mechanistic interpretability on irreducible integer identifiers",
    citation="Syrkis & Søgaard 2024",
    link="https://syrkis.com/miiii",
    main_run="miiii/p113-half-0",
)
