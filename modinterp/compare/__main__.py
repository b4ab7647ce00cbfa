"""`python -m modinterp.compare A B ...`; the function of that name is `modinterp.comparisons.compare`.

This folder has no `__init__.py` on purpose: importing a package `modinterp.compare` would hide the function
`modinterp.compare`, and nothing needs to import it.
"""

import sys

from modinterp.comparisons.command import main

if __name__ == "__main__":
    sys.exit(main())
