"""What several of these scripts share: arguments, means for tables, the end of a script, a decoder of chains."""

import argparse
import pathlib
import statistics
import sys


def standard_parser(description):
    """A parser with the program, the folder of data and that of results."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    return parser


def percent(values):
    """Mean and deviation of shares, in percent."""
    if any(value is None for value in values):
        return "-"
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{100 * statistics.mean(values):.2f} ± {100 * spread:.2f}"


def finish(main, *errors):
    """Runs a script; bad input and what the system refuses are told in a line."""
    try:
        sys.exit(main())
    except (OSError, ValueError, *errors) as error:
        print(f"{pathlib.Path(sys.argv[0]).stem}: {error}", file=sys.stderr)
        sys.exit(2)


def viterbi(scores, pair):
    """The labels of a chain with the highest sum of scores ``[length, labels]`` and of steps ``[from, to]``."""
    best, back = scores[0], []
    for row in scores[1:]:
        through = best[:, None] + pair
        back.append(through.argmax(axis=0))
        best = through.max(axis=0) + row
    path = [int(best.argmax())]
    for step in reversed(back):
        path.append(int(step[path[-1]]))
    return path[::-1]
