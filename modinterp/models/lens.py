"""The used parts of TransformerLens, without the libraries for language models that it imports.

The libraries for language models (transformers, datasets, pyarrow) take longer to import than torch. Whoever uses more
of TransformerLens imports it as ever.
"""

from modinterp.lazy import by_parts

with by_parts("transformer_lens"):
    from transformer_lens import ActivationCache, FactoredMatrix, HookedRootModule
    from transformer_lens.hook_points import HookPoint

__all__ = ["ActivationCache", "FactoredMatrix", "HookPoint", "HookedRootModule"]
