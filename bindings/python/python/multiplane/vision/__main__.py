"""``python -m multiplane.vision``: the commands ``graph`` and ``paint``."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

from multiplane.vision._command import main


def _terminated(*_: object) -> NoReturn:
    raise SystemExit(143)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminated)  # an exception cleans up on its way, so nothing half-written stays
    sys.exit(main())
