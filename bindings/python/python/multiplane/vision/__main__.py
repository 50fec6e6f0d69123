"""``python -m multiplane.vision``: its commands."""

from __future__ import annotations

import signal
import sys

from multiplane.vision._command import main

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception cleans up on its way, so nothing half-written stays
    sys.exit(main())
