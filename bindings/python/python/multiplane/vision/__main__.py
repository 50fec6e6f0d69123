"""``python -m multiplane.vision``: the commands ``graph`` and ``paint``."""

from __future__ import annotations

import sys

from multiplane.vision._command import main

if __name__ == "__main__":
    sys.exit(main())
