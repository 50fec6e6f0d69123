"""``python -m multiplane``: the command line."""

import sys

from multiplane_cli import main

sys.exit(main())
