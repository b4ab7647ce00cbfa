# What pyright reads for transformers, which modinterp does not use: TransformerLens imports it, and its 2,600 files
# would take a third of the time of all types.
from typing import Any

def __getattr__(name: str) -> Any: ...
