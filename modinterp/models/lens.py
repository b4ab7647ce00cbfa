"""Import the parts of TransformerLens that modinterp uses, without TransformerLens' libraries for language models.

The libraries for language models (transformers, datasets, pyarrow) take longer to import than torch. Other parts of
TransformerLens can be imported in the usual way.
"""

from modinterp.lazy import by_parts

with by_parts("transformer_lens"):
    from transformer_lens import ActivationCache, FactoredMatrix, HookedRootModule
    from transformer_lens.hook_points import HookPoint

__all__ = ["ActivationCache", "FactoredMatrix", "HookPoint", "HookedRootModule"]
