"""Define the terms on pages in one sentence each, for tooltips and for the first sentences of docs/glossary.md."""

from __future__ import annotations

import re

# Term to its definition. `docs/glossary.md` has the same sentences, and says what not to confuse the term with.
TERMS = {
    "accuracy": "The share of inputs whose largest logit is that of the right answer.",
    "ablation": "Removing a part of a network, such as a head, a neuron or a frequency, to see how the answers change.",
    "algorithm": "The steps by which a network gets from its inputs to the answer.",
    "circle": "A plane of an embedding in which the numbers stand at the angles of one frequency.",
    "claim": "A record of one statement of a source: its words, the number to measure, the runs and the tolerance.",
    "clock": "A way to add with circles: it multiplies waves of a and b, and the right logit is equal for all pairs.",
    "contradiction": "A place where a source states two things that cannot both be true.",
    "control": "A measurement of a claim's numbers where the effect should be absent, such as on an untrained network.",
    "cosets": "The classes into which a subgroup divides a group; two elements of one class differ by the subgroup.",
    "embedding": "The matrix W_E; each of its rows is the vector of one token.",
    "excluded loss": "The loss on the training pairs with the waves of the key frequencies taken out of the logits.",
    "Fourier multiplication": "Adding with circles: both numbers become angles, and cosines read their sum.",
    "frequency": "How often a wave goes round while a number runs from 0 to p.",
    "FVE": "Fraction of variance explained: 1 minus the squared residual of a fit over the variance.",
    "grokking": "Generalising long after memorising: at least 500 epochs later here.",
    "key frequency": "A frequency that the network uses: one of those before the largest gap in the spectrum of W_L.",
    "key frequencies": "A frequency that the network uses: one of those before the largest gap in the spectrum of W_L.",
    "logit": "The network's score of one answer; softmax turns the scores of all answers into probabilities.",
    "loss": "Mean negative logarithm of the probability of the right answer, in nats.",
    "measurement": "One measure on the networks of one recipe, which may decide several statements.",
    "mixed": "A verdict: the statement holds in some networks of its recipe, and not in others.",
    "neurons": "The units of the MLP after their nonlinearity.",
    "null": "Many random examples without the structure in question, whose numbers are compared with the network's.",
    "p-value": "The share of random draws without the structure whose number is at least as extreme as the network's.",
    "petal": "The closed curve of a head's output while b runs through all numbers and a stays fixed.",
    "pizza": "A way to add with circles: it adds vectors, and the right logit vanishes where two vectors are opposite.",
    "prevalence": "The number of independent seeds of one recipe in which a statement holds.",
    "recipe": "How a network is trained: its epochs, share of the data, optimiser and weight decay.",
    "refuted": "A verdict: the statement holds in none of the networks, or is wrong as mathematics.",
    "representation": "A map from the elements of a group to matrices that multiply as the elements do.",
    "restricted loss": "The loss with only the waves of the key frequencies left in the logits.",
    "seed": "The number from which the initial weights and the split of the data are drawn.",
    "spectrum": "The norms of a matrix's waves, by frequency.",
    "tolerance": "The range in which a measured number must lie for a claim to hold.",
    "verdict": "The result for a statement or a network, in one of a few fixed words.",
    "W_E": "The embedding; each of its rows is the vector of one token.",
    "W_L": "The map from neurons to logits, the product of W_out and W_U.",
}


def terms_in(text: str) -> dict[str, str]:
    """Return the glossary terms that occur in a text, each with its definition."""
    return {term: told for term, told in TERMS.items() if re.search(rf"(?<!\w){re.escape(term)}", text, re.IGNORECASE)}
