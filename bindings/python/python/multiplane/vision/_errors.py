"""What the commands refuse, and the message where the optional packages are missing."""

from __future__ import annotations

import importlib
from types import ModuleType

NEEDED = {"skimage": "scikit-image", "PIL": "Pillow", "scipy": "scipy", "threadpoolctl": "threadpoolctl",
          "safetensors": "safetensors"}  # fmt: skip
"""Packages of the extra `vision`, by the name under which they are imported."""


class VisionError(ValueError):
    """Bad input: images, label maps, options, files. The message is one line that names file and rule."""


class MissingExtra(VisionError, ImportError):
    """A package of the extra `vision` is not installed."""


def load(module: str) -> ModuleType:
    """Imports a module of this package. Raises ``MissingExtra`` where it stands on a package that is not there."""
    try:
        for needed in NEEDED:
            importlib.import_module(needed)
        return importlib.import_module(module)
    except ImportError as error:
        top = (error.name or "").partition(".")[0]
        if top not in NEEDED:
            raise
        raise MissingExtra(f"{NEEDED[top]} is not installed: pip install 'multiplane[vision]'") from None
