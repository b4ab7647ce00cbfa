"""`python -m modinterp.reproduce` runs the command in `modinterp.commands.reproduce`."""

import sys

from modinterp.commands.reproduce import main

if __name__ == "__main__":
    sys.exit(main())
