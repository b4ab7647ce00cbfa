"""`python -m modinterp.sources` runs the command in `modinterp.commands.sources`."""

import sys

from modinterp.commands.sources import main

if __name__ == "__main__":
    sys.exit(main())
