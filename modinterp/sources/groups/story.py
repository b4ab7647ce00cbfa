"""Define the opening sentences of the page on group operations."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "Every finite group has its own waves, the irreducible representations. A network that learns to compose two "
        "group elements finds these representations. On S5 the network memorises within {s5.grok[memorised]:,.0f} "
        "epochs and groks at epoch {s5.grok[grokked]:,.0f} (the source: {s5.grok!s}); this statement {s5.grok}.",
        "The embeddings contain a few representations, with {s5.embed[W_a in key representations]:.2%} of their "
        "energy. The neurons contain the embeddings' representations, with {s5.hidden[neurons_at_keys]:.0%} of their "
        "variance (the source: {s5.hidden!s}); this statement {s5.hidden}.",
        "The ReLU multiplies matrices: {s5.hidden[neurons_product_share]:.0%} of the neurons' variance are entries "
        "of rho(a b). The logit of c is the character of a b c^-1, which is largest where c = a b; this statement "
        "{s5.readoff}. The characters explain {s5.logits.fve[logit_fve_row]:.0%} of the logits' variance (the "
        "source: {s5.logits.fve!s}).",
        (
            "Only rho(a b) of the key representations matters: with only this matrix kept, the loss is "
            "{s5.restricted[restricted over all-pairs loss]:.1%} of the whole network's loss; without this "
            "matrix the loss is {s5.excluded[excluded loss over that of guessing]:.1f} times the loss of "
            "guessing; this statement {s5.excluded}."
        ),
        "Each neuron is nearly constant on the cosets of a subgroup. In networks of A5 and S5, the constancy on "
        "cosets proves {proof[share of all pairs proven to be answered rightly]:.1%} of the answers right, in "
        "{proof[operations of trying all pairs over those of the proof]:.1f} times fewer operations than trying all "
        "pairs (the literature: {proof!s}). The statement that the proof covers 95% or more of the answers {proof}.",
    ),
    figures=("classes", "progress", "shares"),
)
