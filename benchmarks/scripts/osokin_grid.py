#!/usr/bin/env python3
"""The grid of Osokin et al. 2016: {gap, uniform} x {cache, none} x {Frank-Wolfe, pairwise} x three lambdas, as curves.

    osokin_grid.py --program target/dist/multiplane --data $MULTIPLANE_DATA --out DIR [--seeds 1]
    osokin_grid.py --draw --out DIR

Data: OCR fold 0, tested on folds 1 to 9, and the first sentences of the CoNLL-2000 training part, tested on its test
part. The good lambda of each is the multiple of 1/n that has the lowest test loss in a sweep over powers of ten; too
small and too big are that divided and multiplied by --factor.

Runs are under the work clock, so the curves repeat to the bit on any load. No preset of the grid goes by time: a
dearer oracle leaves the iterates as they are, and the time with one that costs D more is seconds + D * calls (the
script checks that on one run). At the good lambda each method runs once more under the wall clock. Bounds are
evaluated off the clock and off the count of calls; gap passes, which train, are on both.

Writes raw.jsonl (curves thinned), a chart per data set, and the tables of summary.md, whose last section, the
conclusions, is by hand and stays. --draw does the same from a raw.jsonl that is there.
"""

import argparse
import collections
import gzip
import itertools
import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile

METHODS = ["bcfw", "bcfw-gap", "bcfw-cache", "bcfw-gap-cache", "bcpfw", "bcpfw-gap", "bcpfw-cache", "bcpfw-gap-cache"]
SWEEP = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0]
KINDS = ["too small", "good", "too big"]
SLOW_SECONDS = 1e-3
FINEST_GAP = 1e-8
SHARES = [0.1, 0.01, 0.001]
POINTS = 60
TITLES = {"ocr": "OCR fold 0", "conll": "CoNLL-2000 chunking"}
CONCLUSIONS = "## The paper's conclusions"

Curve = collections.namedtuple("Curve", "passes seconds gap")


# Runs.


def multiplane(program, *arguments):
    """The JSON object that the program prints."""
    command = [program, *map(str, arguments), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def problems(data, folder, sentences):
    """Arguments of training and of testing, by data set."""
    letters = ["--data", data / "ocr/letter.data.gz", "--set"]
    text = gzip.open(data / "conll2000/train.txt.gz", "rt", encoding="utf-8").read()
    blocks = [block for block in text.split("\n\n") if block.strip()]
    first = pathlib.Path(folder) / "first.conll"
    first.write_text("\n\n".join(block.strip("\n") for block in blocks[:sentences]) + "\n", encoding="utf-8")
    chunking = ["--task", "chain", "--data", first, "--format", "conll", "--set", "task.template=chunking"]
    return {
        "ocr": (
            ["--task", "chain", *letters, "data.folds=0"],
            [*letters, "data.folds=1,2,3,4,5,6,7,8,9"],
        ),
        "conll": (chunking, ["--data", data / "conll2000/test.txt.gz", "--format", "conll"]),
    }


def sweep(program, problem, folder):
    """Test losses of models trained to a gap of 1 % (at most 100 passes) at multiples of 1/n."""
    train, test = problem
    model = pathlib.Path(folder) / "model.safetensors"
    rows = []
    for times in SWEEP:
        # c:X is lambda = 1 / (X n).
        found = multiplane(program, "train", *train, "--solver", "auto", "--clock", "work", "--lambda",
                           f"c:{1 / times}", "--gap", "1%", "--passes", 100, "--out", model)
        loss = multiplane(program, "evaluate", "--model", model, *test)["loss"]
        rows.append({"times": times, "lambda": found["lambda"], "gap": found["gap"] / found["primal"],
                     "train_loss": found["train_loss"], "test_loss": loss, "n": found["n"], "d": found["d"]})
    return rows


def thin(rows):
    """At most about POINTS of the rows, evenly in the logarithm of calls; the first and the last are kept."""
    low, high = math.log(rows[0][0]), math.log(rows[-1][0])
    kept, due = [], low
    for row in rows:
        if math.log(row[0]) >= due - 1e-12 or row is rows[-1]:
            kept.append(row)
            due = math.log(row[0]) + (high - low) / POINTS
    return kept


def one_run(program, train, method, times, seed, passes, folder, more=("--clock", "work")):
    """The final object of a run and its curve: rows of calls, training seconds, gap."""
    record = pathlib.Path(folder) / "record.jsonl"
    order = ["--set", "solver.order=uniform"] if method == "bcfw" else []
    found = multiplane(program, "train", *train, "--solver", method, *order, "--lambda", f"c:{1 / times}", "--seed", seed,
                       "--passes", passes, "--gap", FINEST_GAP, "--record", record, *more)
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert found["certified"] and all(line["certified"] for line in lines)
    return found, [[line["oracle_calls"], float(f"{line['seconds']:.6g}"), float(f"{line['gap']:.6g}")] for line in lines]


def check_delay(program, train, passes, folder):
    """A dearer oracle changes the clock and nothing else."""
    method = "bcpfw-gap-cache"
    plain, _ = one_run(program, train, method, 1.0, 0, passes, folder)
    slow, _ = one_run(program, train, method, 1.0, 0, passes, folder,
                      ("--clock", "work", "--set", f"oracle.delay_us={SLOW_SECONDS * 1e6}"))
    assert all(plain[key] == slow[key] for key in ["primal", "dual", "oracle_calls", "cached_steps"])
    expected = plain["train_seconds"] + SLOW_SECONDS * plain["oracle_calls"]
    assert math.isclose(slow["train_seconds"], expected, rel_tol=1e-9)


def grid(options, write):
    """All runs; `write` gets one object after the other."""
    with tempfile.TemporaryDirectory() as folder:
        sets = problems(options.data, folder, options.sentences)
        check_delay(options.program, sets["ocr"][0], 20, folder)
        for name, problem in sets.items():
            passes = {"ocr": options.ocr_passes, "conll": options.conll_passes}[name]
            rows = sweep(options.program, problem, folder)
            for row in rows:
                write({"what": "lambda", "data": name, **row})
            good = min(rows, key=lambda row: row["test_loss"])["times"]
            times = dict(zip(KINDS, [good / options.factor, good, good * options.factor]))
            for kind, method, seed in itertools.product(KINDS, METHODS, range(options.seeds)):
                found, curve = one_run(options.program, problem[0], method, times[kind], seed, passes, folder)
                wall = None
                if kind == "good":
                    wall = one_run(options.program, problem[0], method, times[kind], seed, passes, folder,
                                   ("--clock", "wall"))[0]["train_seconds"]
                keys = ["n", "lambda", "primal", "dual", "gap", "oracle_calls", "cached_steps", "iterations", "planes"]
                write({"what": "run", "data": name, "kind": kind, "times": times[kind], "method": method, "seed": seed,
                       "budget": passes, **{key: found[key] for key in keys}, "work_seconds": found["train_seconds"],
                       "wall_seconds": wall, "calls_seconds_gap": thin(curve)})


# What the runs say.


def curve_of(run):
    """The curve with passes for calls."""
    calls, seconds, gap = zip(*run["calls_seconds_gap"])
    return Curve([c / run["n"] for c in calls], list(seconds), [max(g, FINEST_GAP) for g in gap])


def reach(xs, gaps, level):
    """Where the gap first is at most `level`, between two points by the logarithm of the gap; None if nowhere."""
    for i, gap in enumerate(gaps):
        if gap <= level:
            if i == 0 or gaps[i - 1] == gap:
                return xs[i]
            share = math.log(gaps[i - 1] / level) / math.log(gaps[i - 1] / gap)
            return xs[i - 1] + share * (xs[i] - xs[i - 1])
    return None


def gap_at(curve, passes):
    """The gap of the last point at or before so many passes (of the first point, if that is later)."""
    return curve.gap[max(i for i, x in enumerate(curve.passes) if i == 0 or x <= passes + 1e-9)]


def times_of(run, clock):
    """The curve's costs: passes, or seconds with the oracle as it is, or with a slow one."""
    curve = curve_of(run)
    slow = [s + SLOW_SECONDS * run["n"] * p for s, p in zip(curve.seconds, curve.passes)]
    return {"passes": curve.passes, "cheap": curve.seconds, "slow": slow}[clock]


def ratio(run, other, clock, passes):
    """Cost of `run` over that of `other` up to the smallest gap that both have reached in so many passes."""
    a, b = curve_of(run), curve_of(other)
    level = max(gap_at(a, passes), gap_at(b, passes))
    return reach(times_of(run, clock), a.gap, level) / reach(times_of(other, clock), b.gap, level)


def pairs(dial):
    """(with, without) of methods that differ in one dial."""
    with_it = [m for m in METHODS if dial in m.split("-")]
    if dial == "bcpfw":
        return [(m, m.replace("bcpfw", "bcfw")) for m in with_it]
    return [(m, m.replace(f"-{dial}", "", 1)) for m in with_it]


def number(value, digits=3):
    """A short number; a dash for none."""
    return "-" if value is None else f"{value:.{digits}g}"


def middle(values):
    """The median, with a dash where the median run has no value."""
    ordered = sorted(math.inf if v is None else v for v in values)
    return None if ordered[len(ordered) // 2] == math.inf else statistics.median_low(ordered)


def lambda_table(lambdas):
    """Losses of the sweep."""
    yield "| lambda n | lambda | train loss | test loss | gap / primal |"
    yield "|---|---|---|---|---|"
    best = min(row["test_loss"] for row in lambdas)
    for row in lambdas:
        mark = "**" if row["test_loss"] == best else ""
        yield (f"| {row['times']:g} | {row['lambda']:.3g} | {row['train_loss']:.4f} | {mark}{row['test_loss']:.4f}{mark} "
               f"| {100 * row['gap']:.2g} % |")


def method_table(runs):
    """One row per lambda and method; medians over seeds."""
    shares = [f"{100 * share:g} %" for share in SHARES]
    yield ("| lambda | method | gap at a tenth of the passes | gap at the end | " +
           " | ".join(f"passes to {share}" for share in shares) + " | work s to 1 % | the same, oracle +1 ms | steps "
           "from the cache | calls in gap passes | wall s of the run |")
    yield "|---" * (9 + len(SHARES)) + "|"
    for kind in KINDS:
        of_kind = [run for run in runs if run["kind"] == kind]
        best = min(run["primal"] for run in of_kind)
        for method in METHODS:
            mine = [run for run in of_kind if run["method"] == method]
            reached = lambda clock, share: middle(reach(times_of(r, clock), curve_of(r).gap, share * best) for r in mine)
            checks = 0 if method in ("bcfw", "bcpfw") else statistics.median(
                (r["iterations"] // 10) * r["n"] / r["oracle_calls"] for r in mine)
            hits = statistics.median(r["cached_steps"] / (r["cached_steps"] + r["oracle_calls"]) for r in mine)
            cells = [
                f"{kind} ({mine[0]['times']:g}/n)", f"`{method}`",
                number(middle(gap_at(curve_of(r), r["budget"] / 10) for r in mine)),
                number(middle(r["gap"] for r in mine)),
                *[number(reached("passes", share)) for share in SHARES],
                number(reached("cheap", SHARES[1])), number(reached("slow", SHARES[1])),
                f"{100 * hits:.0f} %", f"{100 * checks:.0f} %",
                number(middle(r["wall_seconds"] for r in mine)),
            ]
            yield "| " + " | ".join(cells) + " |"


def dial_table(runs):
    """What each dial does to the cost of a gap, at a tenth of the passes and at the end."""
    yield "| data | lambda | dial | passes, early | passes, late | work s, late | oracle +1 ms, late |"
    yield "|---|---|---|---|---|---|---|"
    for name, kind, (dial, word) in itertools.product(
            TITLES, KINDS, [("gap", "gap sampling"), ("cache", "cache"), ("bcpfw", "pairwise")]):
        found = {(r["method"], r["seed"]): r for r in runs if r["data"] == name and r["kind"] == kind}
        seeds = sorted({seed for _, seed in found})
        cells = []
        for clock, share in [("passes", 0.1), ("passes", 1), ("cheap", 1), ("slow", 1)]:
            ratios = []
            for (a, b), seed in itertools.product(pairs(dial), seeds):
                run, other = found[a, seed], found[b, seed]
                ratios.append(ratio(run, other, clock, share * run["budget"]))
            cells.append(f"{statistics.geometric_mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        yield f"| {TITLES[name]} | {kind} | {word} | " + " | ".join(cells) + " |"


# Charts.

COLORS = {"bcfw": "#0072B2", "bcfw-gap": "#D55E00", "bcpfw": "#009E73", "bcpfw-gap": "#CC79A7"}
PANEL_WIDTH, PANEL_HEIGHT = 400, 230
LEFT, TOP, GAP_X, GAP_Y = 78, 112, 88, 84


class Log:
    """A logarithmic axis: values of [low, high] to [start, end]."""

    def __init__(self, low, high, start, end):
        self.low, self.high = math.log10(low), math.log10(high)
        self.start, self.end = start, end

    def at(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self):
        """Decades; 1, 2, 5 where there are few of them; every second or third where there are many."""
        decades = self.high - self.low
        step = 1 if decades < 6 else 2 if decades < 11 else 3
        digits = [1, 2, 5] if decades <= 2.6 else [1]
        powers = [p for p in range(math.floor(self.low), math.ceil(self.high) + 1) if p % step == 0]
        values = [d * 10.0**p for p in powers for d in digits]
        return [v for v in values if self.low - 1e-9 <= math.log10(v) <= self.high + 1e-9]


def tick_label(value):
    """1e-4, 0.01, 20."""
    return f"{value:g}" if 1e-3 <= value < 1e5 else f"1e{round(math.log10(value))}"


def text(x, y, words, anchor="middle", size=12, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{more}>{words}</text>'


def style(method):
    color = COLORS[method.replace("-cache", "")]
    dash = ' stroke-dasharray="6 3"' if method.endswith("-cache") else ""
    return f'fill="none" stroke="{color}" stroke-width="1.8"{dash}'


def panel(runs, clock, left, top, title, x_label):
    """One set of axes with the curves of some runs."""
    curves = [(run["method"], times_of(run, clock), curve_of(run).gap) for run in runs]
    xs, ys = [x for _, c, _ in curves for x in c], [g for _, _, c in curves for g in c]
    right, bottom = left + PANEL_WIDTH, top + PANEL_HEIGHT
    x_axis = Log(min(xs), max(xs), left, right)
    y_axis = Log(min(ys) / 1.3, max(ys) * 1.3, bottom, top)
    yield text(left, top - 9, title, "start", 13, ' font-weight="bold"')
    for value in y_axis.ticks():
        y = y_axis.at(value)
        yield f'<path d="M{left} {y:.1f}H{right}" stroke="#ddd"/>'
        yield text(left - 7, y + 4, tick_label(value), "end")
    for value in x_axis.ticks():
        x = x_axis.at(value)
        yield f'<path d="M{x:.1f} {top}V{bottom}" stroke="#ddd"/>'
        yield text(x, bottom + 17, tick_label(value))
    yield f'<rect x="{left}" y="{top}" width="{PANEL_WIDTH}" height="{PANEL_HEIGHT}" fill="none" stroke="#555"/>'
    yield text((left + right) / 2, bottom + 36, x_label)
    x, y = left - 56, (top + bottom) / 2
    yield text(x, y, "duality gap", more=f' transform="rotate(-90 {x} {y})"')
    for method, costs, gaps in curves:
        line = " ".join(f"{x_axis.at(x):.1f},{y_axis.at(g):.1f}" for x, g in zip(costs, gaps))
        yield f'<polyline points="{line}" {style(method)}/>'


def chart(name, runs):
    """The SVG of a data set: a row for each lambda; gap against passes and against seconds. Lowest seed only."""
    runs = [r for r in runs if r["data"] == name and r["seed"] == 0]
    width = LEFT + 2 * PANEL_WIDTH + GAP_X + 24
    height = TOP + len(KINDS) * (PANEL_HEIGHT + GAP_Y) - 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" fill="#222">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        text(LEFT, 24, f"{TITLES[name]}, n = {runs[0]['n']}: certified gap of the eight methods", "start", 16),
    ]
    for i, method in enumerate(METHODS):
        x, y = LEFT + (i % 4) * 218, 48 + (i // 4) * 20
        parts.append(f'<path d="M{x} {y}h36" {style(method)}/>')
        parts.append(text(x + 43, y + 4, method, "start"))
    for row, kind in enumerate(KINDS):
        mine = [r for r in runs if r["kind"] == kind]
        title = f"lambda {kind}: {mine[0]['times']:g}/n"
        top = TOP + row * (PANEL_HEIGHT + GAP_Y)
        parts += panel(mine, "passes", LEFT, top, title, "oracle calls / n (the time, where calls are dear)")
        parts += panel(mine, "cheap", LEFT + PANEL_WIDTH + GAP_X, top, title,
                       "work-clock seconds (a call 5 µs, a cached plane 0.25 µs)")
    return "\n".join([*parts, "</svg>", ""])


def write_up(out, lines):
    """Charts and summary from the objects of raw.jsonl."""
    runs = [line for line in lines if line["what"] == "run"]
    header = next(line for line in lines if line["what"] == "header")
    summary = out / "summary.md"
    old = summary.read_text(encoding="utf-8") if summary.exists() else ""
    body = ["# Osokin's grid", "", f"Machine: {header['machine']}. Commit {header['commit']}. One thread.", "",
            f"Command: `{header['command']}`", "",
            "{gap sampling, uniform} x {gap-criterion cache, none} x {Frank-Wolfe, pairwise} (Osokin et al. 2016) at "
            f"three lambdas. Seeds: {header['seeds']} (charts show the first, tables medians). CoNLL-2000 is cut to the "
            f"first {header['sentences']} training sentences. `bcfw` is with `solver.order=uniform`. Gaps are certified, and the lowest so "
            "far; bounds are evaluated off the clock and off the count of calls, gap passes (every 10 n visits, with gap sampling or "
            "cache) are on both. Seconds are those of the work clock, 5 us a call and 0.25 us a cached plane, "
            "and contain no price of a step; the last column has wall seconds.", ""]
    for name, title in TITLES.items():
        mine = [run for run in runs if run["data"] == name]
        (out / f"{name}.svg").write_text(chart(name, runs), encoding="utf-8")
        lambdas = [line for line in lines if line["what"] == "lambda" and line["data"] == name]
        body += [f"## {title}", "", f"n = {lambdas[0]['n']}, d = {lambdas[0]['d']}, at most {mine[0]['budget']} passes. ![curves]({name}.svg)", "",
                 "Test loss by lambda (solver `auto`, gap 1 % or 100 passes):", "", *lambda_table(lambdas), "",
                 "Percentages are of the lowest primal value of the eight methods; a dash: not reached.", "",
                 *method_table(mine), ""]
    body += ["## Each dial by itself", "", "Cost with the dial over cost without it, to the smallest gap that both reach within a tenth of "
             "the passes (early) or all (late): the geometric mean over the four pairs of methods that differ in nothing else, and the "
             "range. Below 1 the dial helps.", "", *dial_table(runs), ""]
    kept = CONCLUSIONS + old.split(CONCLUSIONS, 1)[1] if CONCLUSIONS in old else CONCLUSIONS + "\n"
    summary.write_text("\n".join(body) + "\n" + kept, encoding="utf-8")


def machine():
    """The processor, in a line."""
    names = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    return f"{names[0] if names else 'unknown processor'}, {os.cpu_count()} cores, shared with other work, Linux"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/dist/multiplane")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--factor", type=float, default=100.0, help="between too small, good and too big")
    parser.add_argument("--ocr-passes", type=int, default=200)
    parser.add_argument("--conll-passes", type=int, default=60)
    parser.add_argument("--sentences", type=int, default=2000, help="of CoNLL-2000's training part")
    parser.add_argument("--draw", action="store_true", help="no runs: charts and tables of the raw.jsonl in --out")
    options = parser.parse_args()
    raw = options.out / "raw.jsonl"
    if not options.draw:
        if options.data is None:
            parser.error("--data is needed, unless --draw is given")
        options.out.mkdir(parents=True, exist_ok=True)
        folder = pathlib.Path(__file__).resolve().parent
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
        command = (f"benchmarks/scripts/osokin_grid.py --program target/dist/multiplane --data $MULTIPLANE_DATA --out DIR "
                   f"--seeds {options.seeds} --factor {options.factor:g} --ocr-passes {options.ocr_passes} "
                   f"--conll-passes {options.conll_passes} --sentences {options.sentences}")
        with raw.open("w", encoding="utf-8") as file:
            def write(line):
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
                file.flush()
            write({"what": "header", "machine": machine(), "commit": commit.stdout.strip(), "command": command,
                   "seeds": options.seeds, "sentences": options.sentences})
            grid(options, write)
    write_up(options.out, [json.loads(line) for line in raw.read_text(encoding="utf-8").splitlines()])


if __name__ == "__main__":
    main()
