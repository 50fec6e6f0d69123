#!/usr/bin/env python3
"""Instances with known optima through `multiplane infer`: every energy, bound and flow is held against them.

    mrf.py --program target/dist/multiplane --data DIR [--engine tree,min-cut,trws] [--seconds 60] [--repeat 1]
           [--only WORD] [--out DIR]

DIR holds mrf and maxflow. Without --engine the program chooses one for each instance. Engines that do not apply to an
instance are left out. Prints a markdown table, with the forty instances of mrf/seg_binary as one line unless --all;
--out writes raw.jsonl and mrf.md. Ends with status 1 if a bound is above an optimum or an energy below it, or an answer
that is called exact is not the optimum. The optima are fixed point with nine digits, from another solver: 1e-6 is let
pass. Needs nothing beyond Python's own library.
"""

import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys

SLACK = 1e-6
# The files do not say them: known flows of mrf's neighbour folder.
FLOWS = {"gl1.max": 156545, "wlm3.max": 11875108, "ak-4102.max": 8207}


def optima(data):
    """(instance, file, optimum) of every instance."""
    found = []
    for table, name, value, folder in [
        ("mrf/optima.tsv", "instance", "optimum_energy", "mrf"),
        ("mrf/toulbar2/optima.tsv", "instance", "optimum_cost", "mrf/toulbar2"),
    ]:
        with open(data / table, newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                found.append((f"{folder}/{row[name]}", float(row[value])))
    found += [(f"maxflow/{name}", float(flow)) for name, flow in FLOWS.items()]
    return [(name, data / f"{name}.gz", optimum) for name, optimum in found]


def solve(args, file, engine):
    """The program's answer; none where the engine does not apply."""
    command = [args.program, "infer", "--data", file, "--json", "--seconds", str(args.seconds)]
    command += ["--repeat", str(args.repeat)] + (["--engine", engine] if engine else [])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2 and engine and "engine" in done.stderr:
        return None
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"{file}, {engine or 'automatic'}: status {done.returncode}, {done.stderr.strip()}")
    return json.loads(done.stdout)


def faults(record):
    """What an answer claims that the optimum refutes."""
    infinity = float("inf")
    optimum, energy, bound = record["optimum"], record["energy"], record["bound"]
    energy, bound = infinity if energy is None else energy, -infinity if bound is None else bound
    slack = SLACK * max(1.0, abs(optimum))
    found = []
    if bound > optimum + slack:
        found.append(f"bound {bound} is above the optimum {optimum}")
    if energy < optimum - slack:
        found.append(f"energy {energy} is below the optimum {optimum}")
    if record["exact"] and abs(energy - optimum) > slack:
        found.append(f"energy {energy} is called exact, the optimum is {optimum}")
    return found


def percent(part, whole):
    share = 0.0 if part is None or abs(part) < SLACK * max(1.0, abs(whole)) else 100 * part / max(1.0, abs(whole))
    return "-" if part is None else f"{share:.4f}"


def line(name, engine, energy, bound, optimum, exact, seconds):
    excess = None if energy is None else energy - optimum
    gap = None if energy is None or bound is None else energy - bound
    shown = ["none" if value is None else f"{value:.6f}" for value in (energy, bound, optimum)]
    return f"| {name} | {engine} | {' | '.join(shown)} | {percent(excess, optimum)} | {percent(gap, optimum)} | {exact} | {seconds:.4f} |"


def table(records, everything):
    yield "| instance | engine | energy | bound | optimum | above optimum % | gap % | exact | seconds |"
    yield "|---|---|---|---|---|---|---|---|---|"
    grouped = {}
    for record in records:
        if "seg_binary" in record["instance"] and not everything:
            grouped.setdefault(record["engine"], []).append(record)
            continue
        fields = ("instance", "engine", "energy", "bound", "optimum")
        yield line(*(record[key] for key in fields), "yes" if record["exact"] else "no", record["seconds"])
    for engine, group in grouped.items():
        sums = [sum(record[key] for record in group) for key in ("energy", "bound", "optimum")]
        exact = f"{sum(record['exact'] for record in group)} of {len(group)}"
        seconds = statistics.median(record["seconds"] for record in group)
        yield line(f"mrf/seg_binary: sums of {len(group)}, median seconds", engine, *sums, exact, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--engine", default="", help="names, separated by commas")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default="", help="instances whose path contains this")
    parser.add_argument("--all", action="store_true", help="a line for each instance of seg_binary")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    records, wrong = [], []
    for name, file, optimum in optima(args.data):
        if args.only not in name:
            continue
        for engine in args.engine.split(","):
            answer = solve(args, file, engine)
            if answer is None:
                continue
            answer.pop("labels", None)
            record = {"instance": name, "optimum": optimum, **answer}
            records.append(record)
            wrong += [f"{name}, {record['engine']}: {fault}" for fault in faults(record)]
    lines = list(table(records, args.all))
    print("\n".join(lines))
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "raw.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        (args.out / "mrf.md").write_text("\n".join(lines) + "\n")
    for fault in wrong:
        print(f"WRONG: {fault}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
