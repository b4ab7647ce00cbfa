"""`python -m modinterp.runs` runs the command in `modinterp.commands.runs`."""

import sys

from modinterp.commands.runs import main

if __name__ == "__main__":
    sys.exit(main())
