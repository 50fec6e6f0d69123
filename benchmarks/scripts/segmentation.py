#!/usr/bin/env python3
"""Segmentation with costly oracles: Figures 4 to 6 of the MP-BCFW paper on Weizmann horses and Stanford background.

    segmentation.py --program target/dist/multiplane --graphs DIR --out DIR [--warm target/release/examples/warm]
                    [--only race,threads,warm,curves] [--repeats 3] [--cap 240] [--sets horses,stanford]

DIR holds horses.safetensors and stanford.safetensors (`vision_features.py --build-only`). The warm example is built with
`cargo build --profile dist -p multiplane --example warm`. Parts:

* race: whole processes to a certified relative gap of 1 %, one thread, in turns: auto, mp-bcfw, bcfw, bcfw-avg. A run that
  does not get there within --cap seconds counts as the cap, a bound from below; its gap then is told.
* threads: auto with one and two threads in turns, and whether both write the same bytes.
* warm: oracle calls that start from the last flow, and such that do not.
* curves: bcfw and mp-bcfw, with and without averaging, evaluated at every iteration (evaluation off the clock): raw records
  and pictures of primal and dual suboptimality and gap by passes and by seconds, set sizes and approximate passes.

Writes raw.jsonl, summary.md and pictures into --out.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

LAMBDA = {"horses": "1", "stanford": "1"}
GAP = "1%"


def train(program, graphs, name, *options, cap=None, out=None):
    """Runs a whole process; returns its report with wall seconds and peak memory (MB)."""
    command = [program, "train", "--task", "graph", "--data", str(graphs / f"{name}.safetensors"), "--lambda", LAMBDA[name],
               "--json", *options]
    command += ["--seconds", str(cap)] if cap else []
    command += ["--out", str(out)] if out else []
    before = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - before
    if status:
        raise SystemExit(f"{' '.join(command)}: status {status}")
    report = json.loads(text)
    keys = ("solver", "n", "d", "lambda", "primal", "dual", "gap", "certified", "oracle_calls", "evaluation_calls", "passes",
            "iterations", "train_seconds", "oracle_seconds", "wall_seconds", "stop_reason", "train_loss", "planes", "threads")
    return {**{key: report[key] for key in keys}, "set": name, "process_seconds": seconds, "peak_mb": usage.ru_maxrss / 1024,
            "relative_gap": report["gap"] / report["primal"] if report["gap"] is not None else None,
            "all_passes": (report["oracle_calls"] + report["evaluation_calls"]) / report["n"]}


def race(args, write):
    lines = ["## To a relative gap of 1 %, certified, one thread", "",
             "| set | solver | wall s (medians) | all in passes | gap | oracle's share of time | peak MB |",
             "|---|---|---|---|---|---|---|"]
    for name in args.sets:
        runs = {}
        for repeat in range(args.repeats):
            for solver in ("auto", "mp-bcfw", "bcfw", "bcfw-avg"):
                capped = solver.startswith("bcfw")
                if capped and repeat >= args.capped_repeats:
                    continue
                found = train(args.program, args.graphs, name, "--solver", solver, "--gap", GAP, "--threads", "1",
                              cap=args.cap if capped else None)
                write({"part": "race", "repeat": repeat, **found})
                runs.setdefault(solver, []).append(found)
        for solver, found in runs.items():
            middle = lambda key: statistics.median(run[key] for run in found)
            reached = all(run["relative_gap"] <= 0.01 for run in found)
            share = statistics.median(run["oracle_seconds"] / max(1e-9, run["train_seconds"]) for run in found)
            mark = "" if reached else "> "
            lines.append(f"| {name} | {solver} | {mark}{middle('process_seconds'):.1f} | {mark}{middle('all_passes'):.1f} | "
                         f"{100 * middle('relative_gap'):.2f} % | {100 * share:.0f} % | {middle('peak_mb'):.0f} |")
        ratio = statistics.median(r["process_seconds"] for r in runs["auto"]) / statistics.median(
            r["process_seconds"] for r in runs["bcfw"])
        calls = statistics.median(r["all_passes"] for r in runs["auto"]) / statistics.median(
            r["all_passes"] for r in runs["bcfw"])
        lines.append(f"\n{name}: auto takes {ratio:.3f} of the wall time of bcfw, and {calls:.3f} of its calls "
                     f"(at most, where bcfw did not arrive).\n")
    return lines


def threads(args, write):
    lines = ["## Two threads against one", "", "| set | one s | two s | ratio (medians) | same bytes |", "|---|---|---|---|---|"]
    for name in args.sets:
        pairs, same = [], True
        for repeat in range(args.repeats):
            with tempfile.TemporaryDirectory() as folder:
                seconds, files = [], []
                for count in ("1", "2"):
                    out = pathlib.Path(folder) / f"{count}.safetensors"
                    found = train(args.program, args.graphs, name, "--gap", GAP, "--threads", count, out=out)
                    write({"part": "threads", "repeat": repeat, **found})
                    seconds.append(found["process_seconds"])
                    files.append(out.read_bytes())
                pairs.append(seconds)
                same &= files[0] == files[1]
        one, two = (statistics.median(pair[k] for pair in pairs) for k in (0, 1))
        ratio = statistics.median(pair[0] / pair[1] for pair in pairs)
        lines.append(f"| {name} | {one:.1f} | {two:.1f} | {ratio:.2f} | {'yes' if same else 'NO'} |")
    return lines


def warm(args, write):
    lines = ["## Calls of the oracle, warm and cold", "",
             "| set | warm us | cold us | of these features | of these all but the cut | warm / cold | the same of the cut alone |",
             "|---|---|---|---|---|---|---|"]
    for name in args.sets:
        command = [args.warm, str(args.graphs / f"{name}.safetensors"), LAMBDA[name], "auto", "8"]
        found = [json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                 for _ in range(args.repeats)]
        for one in found:
            write({"part": "warm", "set": name, **one})
        middle = {key: statistics.median(one[key] for one in found) for key in found[0]}
        lines.append(f"| {name} | {middle['warm_us']:.0f} | {middle['cold_us']:.0f} | {middle['features_us']:.0f} | "
                     f"{middle['again_us']:.0f} | {middle['warm_over_cold']:.2f} | {middle['warm_over_cold_of_cuts']:.2f} |")
    return lines


def curves(args, write):
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    lines = ["## Figures 4 to 6", ""]
    for name in args.sets:
        records = {}
        for solver in ("bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg"):
            path = args.out / f"{name}-{solver}.jsonl"
            train(args.program, args.graphs, name, "--solver", solver, "--gap", "0.1%", "--threads", "1", "--set",
                  "evaluate=pass", "--record", str(path), cap=args.curve_cap)
            records[solver] = [json.loads(line) for line in path.read_text().splitlines()]
        best_dual = max(r["dual"] for rs in records.values() for r in rs if r["dual"] is not None)
        best_primal = min(r["primal"] for rs in records.values() for r in rs if r["primal"] is not None)
        figure, axes = plt.subplots(3, 2, figsize=(10, 11), sharey="row")
        for solver, rows in records.items():
            rows = [r for r in rows if r["primal"] is not None and r["dual"] is not None]
            for column, key in enumerate(("pass", "seconds")):
                x = [r[key] for r in rows]
                values = ([r["primal"] - best_dual for r in rows], [best_primal - r["dual"] for r in rows],
                          [r["primal"] - r["dual"] for r in rows])
                for row, y in enumerate(values):
                    axes[row][column].plot(x, y, label=solver)
        for row, what in enumerate(("primal suboptimality (upper bound)", "dual suboptimality (upper bound)", "gap")):
            for column, key in enumerate(("passes over the data (oracle calls / n)", "seconds of training")):
                axes[row][column].set(yscale="log", xlabel=key)
            axes[row][0].set_ylabel(what)
        axes[0][0].legend()
        figure.suptitle(f"{name}, lambda = {LAMBDA[name]}")
        figure.tight_layout()
        figure.savefig(args.out / f"{name}-convergence.svg")
        plt.close(figure)
        figure, axes = plt.subplots(2, 1, figsize=(8, 7), sharex=True)
        for solver in ("mp-bcfw", "mp-bcfw-avg"):
            rows = records[solver]
            counts = [0] + [r["approximate_passes"] for r in rows]  # of the run so far
            steps = [after - before for before, after in zip(counts, counts[1:])]
            axes[0].plot([r["seconds"] for r in rows], [r["planes"] for r in rows], label=solver)
            axes[1].plot([r["seconds"] for r in rows], steps, label=solver)
        axes[0].set_ylabel("planes kept per example")
        axes[1].set(ylabel="approximate passes of an iteration", xlabel="seconds of training")
        axes[0].legend()
        figure.tight_layout()
        figure.savefig(args.out / f"{name}-sets.svg")
        plt.close(figure)
        for solver, rows in records.items():
            last = rows[-1]
            share = last["oracle_seconds"] / max(1e-9, last["seconds"])
            lines.append(f"- {name}, {solver}: {last['pass']:.0f} passes in {last['seconds']:.1f} s, gap "
                         f"{last['primal'] - last['dual']:.4g} of {last['primal']:.4g}, {100 * share:.0f} % of the time in the "
                         f"oracle, {last['planes']:.1f} planes an example")
        lines += ["", f"![{name}]({name}-convergence.svg)", f"![{name}]({name}-sets.svg)", ""]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--warm")
    parser.add_argument("--graphs", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="race,threads,warm,curves")
    parser.add_argument("--sets", default="horses,stanford")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--capped-repeats", type=int, default=1)
    parser.add_argument("--cap", type=float, default=240)
    parser.add_argument("--curve-cap", type=float, default=60)
    args = parser.parse_args()
    args.sets = args.sets.split(",")
    args.out.mkdir(parents=True, exist_ok=True)
    raw = (args.out / "raw.jsonl").open("a")

    def write(record):
        raw.write(json.dumps(record) + "\n")
        raw.flush()

    for part in args.only.split(","):
        lines = {"race": race, "threads": threads, "warm": warm, "curves": curves}[part](args, write)
        with (args.out / "summary.md").open("a") as summary:
            summary.write("\n".join(lines) + "\n\n")
        print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
