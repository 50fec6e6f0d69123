"""``python -m multiplane``: the command line."""

import sys

from multiplane._cli import main

sys.exit(main())
