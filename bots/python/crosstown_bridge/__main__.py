"""`python -m crosstown_bridge [options] -- COMMAND`."""

import sys

from crosstown_bridge.bridge import main

sys.exit(main(sys.argv[1:]))
