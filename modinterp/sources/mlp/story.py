"""Define the opening sentences of the page on Kissane's notebook."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "A network of one hidden layer, without attention, learns to add modulo 113 from 30% of the pairs. "
        "The network groks at epoch {final_losses[grokked]:,.0f}; the claim {final_losses}.",
        "The MLP's neurons are periodic: {neurons_9_terms[neurons_explained]:.1%} of them have 85% of their"
        " variance in waves and products of one frequency (the notebook: {neurons_9_terms!s}). The claim "
        "that most neurons do so {neurons_9_terms}.",
        "There are {key_freqs[n_keys]:.0f} key frequencies (the notebook: {key_freqs!s}), more than in the "
        "transformer; the claim {key_freqs}.",
        "The ReLU multiplies waves: with the best affine map in place of the ReLU {post_quadratic[accuracy with "
        "the best affine map in place of the neurons]:.1%} of the answers are right. The statement that the ReLU "
        "is needed {post_quadratic}.",
        "The logits are sums of cos w(a + b - c), which explain {algorithm_summary[logit_fve]:.1%} of the "
        "logits (the notebook: {algorithm_summary!s}); the claim {algorithm_summary}.",
    ),
    figures=("curves", "neurons", "spectra"),
)
