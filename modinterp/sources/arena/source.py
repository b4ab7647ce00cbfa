"""The source ARENA: monthly algorithmic problems (running sums, lists, palindromes, unique letters, sums), analysed."""

from modinterp.sources.contract import Source

SOURCE = Source(
    name="arena",
    package=__package__,
    title="Monthly algorithmic problems: running sums, lists, palindromes, letters, sums of two numbers",
    citation="McDougall, ARENA 2.0, chapter 1 (2023)",
    main_run="arena/cumsum-42",
    link="https://github.com/callummcdougall/ARENA_2.0",
    note=(
        "The course has no licence, so this project contains none of the course's weights, code or words. "
        "We train the course's networks again from the published recipe. For running sums, training with "
        "the authors' seed reproduces the authors' network up to rounding, with its norms and losses. "
        "Networks of other seeds, and the sums of two numbers, are evaluated at the end of training. The "
        "bracket classifier has no recipe and is left out."
    ),
)
