"""`python -m modinterp` runs the command in `modinterp.commands.overview`."""

import sys

from modinterp.commands.overview import main

if __name__ == "__main__":
    sys.exit(main())
