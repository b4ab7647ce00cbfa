"""ARENA's monthly algorithmic problems: running sums, lists, palindromes, unique letters and sums, taken apart."""

from modinterp.sources.contract import Source

SOURCE = Source(
    name="arena",
    package=__package__,
    title="Monthly algorithmic problems: running sums, lists, palindromes, letters, sums of two numbers",
    citation="McDougall, ARENA 2.0, chapter 1 (2023)",
    main_run="arena/cumsum-42",
    link="https://github.com/callummcdougall/ARENA_2.0",
    note=(
        "The course has no licence, so none of its weights, code or words are here: its networks are trained again "
        "from their recipe. Of the running sums with the authors' seed that gives their network up to rounding: the "
        "round that they keep, and the norms and losses that they print. Networks of other seeds, and the sums of two "
        "numbers, are judged as they are at the end of training. The bracket classifier has no recipe and is left out."
    ),
)
