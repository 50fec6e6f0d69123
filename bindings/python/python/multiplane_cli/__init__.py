"""The command ``multiplane`` of an installed package: the same program as the binary, out of the extension module.

It stands beside the package, and loads the extension alone: with the package NumPy would be loaded, which the program has no
use for, and which takes longer than most commands.
"""

import importlib.util
import sys
from importlib.machinery import PathFinder


def main() -> int:
    """Runs the command line that this process was started with; returns the exit code."""
    package = importlib.util.find_spec("multiplane")
    places = package.submodule_search_locations if package is not None else None
    spec = PathFinder.find_spec("multiplane._core", places)
    if spec is None or spec.loader is None:
        print("error: the extension module of the package multiplane is not there: install it again", file=sys.stderr)
        return 1
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    arguments, holder = sys.argv[1:], None
    if any(word.split("=")[0] == "--executor" for word in arguments):
        from multiplane_cli._ray import Refused, rewritten

        try:
            arguments, holder = rewritten(arguments)
        except Refused as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    code: int = core.run_command(["multiplane", *arguments])
    if holder is not None and holder.stdin is not None:
        holder.stdin.close()
        holder.wait()
    return code
