"""What the page of group operations begins with."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "Every finite group has its waves, the irreducible representations, and a network that learns to compose two elements "
        "finds them: it memorises, and on A5 it groks at epoch "
        "{others.grok.a5-mlp[first epoch with test accuracy 0.99]:,.0f} (the source: {others.grok.a5-mlp!s}); this "
        "{others.grok.a5-mlp}.",
        "The embeddings hold a few representations and nothing else, {table.mlp[embedding in key representations]:.2%} of "
        "their energy, and so do the neurons, {table.mlp[neurons in rho(a), rho(b), rho(a b) of key representations]:.0%} of "
        "their variance (the source: {table.mlp!s}); this {table.mlp}.",
        "The ReLU multiplies matrices: {table.mlp[neurons in rho(a b) of key representations]:.0%} of the variance are entries "
        "of rho(a b), and from these the logit of c is the character of a b c^-1, largest where c = a b.",
        "That part is all that counts: alone it has {table.losses.mlp[restricted over test loss]:.1%} of the test loss, and "
        "without it the loss is {table.losses.mlp[excluded loss over that of guessing]:.1f} times that of guessing; this "
        "{table.losses.mlp}.",
        "Each neuron is nearly constant on the cosets of a subgroup, which proves "
        "{proof[share of all pairs proven to be answered rightly]:.1%} of the answers right in "
        "{proof[operations of trying all pairs over those of the proof]:.1f} times fewer operations than trying all pairs (the "
        "literature: {proof!s}); that it proves 95% or more {proof}.",
    ),
    figures=("classes", "progress", "shares"),
)
