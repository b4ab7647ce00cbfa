"""What a network over pairs does with them: `python -m modinterp.explain FILE`, and `modinterp.explain(...)`.

The name is both a command, which makes it a module, and a function. Importing a submodule binds its name in the
package, so a function of that name would be hidden as soon as anybody imports anything from here. Hence the module
itself can be called; `modinterp.explain.explanation.explanation` is the function behind it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modinterp.explain.explanation import Explanation


class _Command(ModuleType):
    def __call__(self, network: Any, *args: Any, **options: Any) -> Explanation:
        from modinterp.explain.explanation import explanation

        return explanation(network, *args, **options)


sys.modules[__name__].__class__ = _Command
