"""Define the opening sentences of the page on the audit."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "A public audit asks 36 questions of the claim that small networks add by circles. This page answers the "
        "36 questions in a self-audit: networks, measurements and tolerances are ours, and nobody else has "
        "checked the answers.",
        (
            "If the circles are rotated by half a step, to angles without a token, the answer changes by "
            "one on {M2.baseline[half turn: the answer moves by one]:.1%} of the pairs; no control change "
            "of equal size changes the answer by one on more than {M2.baseline[largest control of equal "
            "size]:.1%}; this statement {M2.baseline}."
        ),
        (
            "Without the key circles, {I1.necessity[accuracy_without]:.1%} of the answers are right; the "
            "statement that the network needs the circles {I1.necessity}. With the key circles alone, "
            "{I2.sufficiency[accuracy with the key circles alone]:.1%} of the answers are right; the statement "
            "that the circles suffice {I2.sufficiency}."
        ),
        "The audit's next tier needs a double dissociation: two interventions, each of which harms a different task. "
        "The statement of a double dissociation {I6.double_dissociation} in a network that learned many remainders "
        "at once. In a network that learned sums with exceptions, the statement of a double dissociation "
        "{I6.exceptions}.",
        (
            "The network does not need all its neurons: {I3.neurons[neurons that suffice for 99%, share]:.0%} "
            "of the neurons suffice for 99% of the answers."
        ),
    ),
    figures=("doses", "periods", "onset"),
)
