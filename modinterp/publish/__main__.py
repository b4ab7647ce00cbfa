"""`python -m modinterp.publish` runs the command in `modinterp.commands.publish`."""

import sys

from modinterp.commands.publish import main

if __name__ == "__main__":
    sys.exit(main())
