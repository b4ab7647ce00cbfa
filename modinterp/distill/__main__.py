"""`python -m modinterp.distill` runs the command in `modinterp.commands.distill`."""

import sys

from modinterp.commands.distill import main

if __name__ == "__main__":
    sys.exit(main())
