"""`python -m modinterp.compare` runs the command in `modinterp.commands.compare`."""

import sys

from modinterp.commands.compare import main

if __name__ == "__main__":
    sys.exit(main())
