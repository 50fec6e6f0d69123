"""The command ``multiplane`` of an installed package: the same program as the binary, out of the extension module."""

import sys

from multiplane._core import run_command


def main() -> int:
    """Runs the command line that this process was started with; returns the exit code."""
    return run_command(["multiplane", *sys.argv[1:]])
