"""`python -m modinterp.explain FILE`; the function of that name is `modinterp.explanations.explain`.

This folder has no `__init__.py` on purpose: importing a package `modinterp.explain` would hide the function
`modinterp.explain`, and nothing needs to import it.
"""

import sys

from modinterp.explanations.command import main

if __name__ == "__main__":
    sys.exit(main())
