"""`python -m modinterp.explain` runs the command in `modinterp.commands.explain`."""

import sys

from modinterp.commands.explain import main

if __name__ == "__main__":
    sys.exit(main())
