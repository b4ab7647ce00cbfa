"""What a network over pairs does with them: `python -m modinterp.explain FILE`, and `modinterp.explain(...)`.

The name is both a command, which makes it a module, and a function. Importing a submodule binds its name in the
package, so a function of that name would be hidden as soon as anybody imports anything from here. Hence the module
itself can be called; `modinterp.explain.explanation.explanation` is the function behind it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modinterp.explain.explanation import Explanation


class _Command(ModuleType):
    def __call__(self, network: Any, *args: Any, out: str | Path | None = None, **options: Any) -> Explanation:
        """`explanation.explanation`; with `out`, a folder to write the page, the table and the JSON into."""
        from modinterp.explain.explanation import explanation
        from modinterp.explain.page import write_explanation

        found = explanation(network, *args, **options)
        if out is not None:
            write_explanation(found, Path(out))
        return found


sys.modules[__name__].__class__ = _Command
