"""Define the opening sentences of the page on the clock and the pizza."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "A clock adds two angles by multiplying waves, and with one circle is right on {clock.ideal[least "
        "accuracy of one circle]:.0%} of all pairs. A pizza averages two points of a circle, which needs no"
        " product, and with one circle is right on {pizza.ideal[least accuracy of one circle]:.0%}, too. "
        "For the ideal algorithms this statement {pizza.ideal}.",
        (
            "Where the points of a and b lie nearly opposite each other on the circle, the pizza's correct "
            "logit falls to {pizza.ideal[least size of a logit of one circle]:.1%} of its largest value. "
            "Absolute values of sums, which ReLUs make, explain {pizza.harmonic[squared correlation]:.1%} of "
            "the logit; this statement {pizza.harmonic}."
        ),
        "Two measures distinguish clock and pizza. Gradient symmetricity measures whether a logit depends on both "
        "numbers equally: it is {gs.theory[symmetricity of networks of sums]:.2f} for networks of sums, and "
        "{gs.theory[symmetricity of a network of products]:.2f} for a product. Distance irrelevance measures whether "
        "a logit ignores the distance of the two numbers: with {phase.equals[distance_irrelevance]:.2f} (the source: "
        "{phase.equals!s}) the mainline network of modular addition is a clock; this statement {phase.equals}.",
        "With constant attention the symmetricity is {modelA.gs[gradient symmetricity]:.3f} (the source: "
        "{modelA.gs!s}), with softmax attention {modelB.gs[gradient symmetricity]:.2f} ({modelB.gs!s}). The "
        "statement that the two symmetricities differ {modelB.gs}.",
        "With one circle alone a network of constant attention is a pizza to {table1.pizza[pizza formula on the "
        "first circle]:.1%} and a clock to {table1.clock[clock formula, most of the leading circles]:.1%} (the "
        "source: {table1.pizza!s}, and {table1.clock!s}); this statement {table1.pizza}.",
    ),
    figures=("formulas", "phases", "components"),
)
