"""What the page of He, Wang, Chen and Yang 2026 begins with."""

from modinterp.sources.story import Story

STORY = Story(
    sentences=(
        "A hidden layer that reads the sum of two one-hot vectors learns to add modulo 23; with its seed the authors' run "
        "is replayed, to a loss of {setup.replay[loss at 1,000]:.6f} after 1,000 steps; this {setup.replay}.",
        "Every neuron comes to write at twice the phase that it reads, to {obs2.align[median |D|]:.3f} radians in the "
        "median; this {obs2.align}. That it holds virtually one frequency {obs1.share}.",
        "The frequency that would dominate first, by the flow from its initial size and phase, wins in "
        "{lottery.time[winners of least time to dominate, share]:.0%} of the neurons; this {lottery.time}. That the phase "
        "decides alone {lottery.phase}.",
        "While it memorises, the test accuracy is that of the mirrored pairs alone, within "
        "{grok.mirror[test accuracy less the share of mirrored pairs]:.3f}; this {grok.mirror}.",
        "That without weight decay the network stays there {grok.decay}. With it, the unseen pairs "
        "x = y are what is wrong in the end; this {grok.final_diagonal}.",
    ),
    figures=("phases", "lottery", "stages"),
)
