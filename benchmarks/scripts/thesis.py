#!/usr/bin/env python3
"""What the SFD thesis measures (Tables 5.1, 5.3 and 5.4), with its kernels and sizes: raw records of online solvers.

    thesis.py --program target/dist/multiplane --data DIR --out DIR [--seeds 5] [--only WORDS]

DIR holds binary/ (`$MULTIPLANE_DATA`). ijcnn1: rows 1 to 35000, and its test part; a9a: rows 1 to 22696, and the 9865 others; w8a:
37000 rows drawn with a fixed seed, and the 12749 others (its test part was not found). Gaussian kernel, gamma = 1, 0.05, 0.1; one
thread, no bias; 1 % of n at a step. `thesis` has margins clamped from below too, no average, and 1-slack steps. Writes raw.jsonl (a run a line:
what it reported, `records` the steps of functional descent) and summary.md. `--only` takes a data set, or a set and a
case, as in "a9a sfd1"; what is there already is added to.
"""

import gzip
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

from common import percent, standard_parser

SETS = {"ijcnn1": 1.0, "a9a": 0.05, "w8a": 0.1}
OURS = ["solver.margins=capped", "solver.averaging=polynomial"]  # as the presets are
THESIS = ["solver.margins=clamped", "solver.averaging=none", "solver.inner=one-slack"]
CASES = {
    "sfd1": ["sfd1", None, 2, OURS],
    "sfd2": ["sfd2", None, 2, OURS],
    "sfd1 thesis": ["sfd1", None, 2, THESIS],
    "sfd2 thesis": ["sfd2", None, 2, THESIS],
    **{f"{name} {x}": [name, x, 2, []] for name in ("pegasos", "pegasos-avg") for x in ("1e-3", "1e-4", "1e-5")},
    **{f"sampled-cuts {x}": ["sampled-cuts", x, 2, ["solver.size=0.01"]] for x in ("1e-3", "1e-4")},
    **{f"lasvm C={c}": ["lasvm", f"c:{c}", 1, []] for c in (1, 10)},
}


def split(data, folder):
    """Writes the training and the test part of every set."""
    read = lambda name: gzip.open(f"{data}/binary/{name}.gz", "rt").read().splitlines(True)
    web = read("w8a")
    random.Random(0).shuffle(web)
    adult = read("a9a")
    parts = {
        "ijcnn1": (read("ijcnn1")[:35000], read("ijcnn1.t")),
        "a9a": (adult[:22696], adult[22696:]),
        "w8a": (web[:37000], web[37000:]),
    }
    for name, both in parts.items():
        for part, rows in zip(("train", "test"), both):
            (folder / f"{name}.{part}").write_text("".join(rows))


def run(program, folder, data, case, seed):
    solver, strength, passes, sets = CASES[case]
    record, model = folder / "record.jsonl", folder / "model"
    sets = [f"task.kernel.gamma={SETS[data]}", *sets]
    command = [program, "train", "--task", "binary", "--data", folder / f"{data}.train", "--format", "libsvm"]
    command += ["--solver", solver, "--passes", str(passes), "--seed", str(seed), "--threads", "1", "--json", "--quiet"]
    command += ["--record", record, "--out", model, "--set", "task.kernel=rbf"]
    command += ["--lambda", strength] if strength else []
    command += [word for pair in sets for word in ("--set", pair)]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    command = [program, "evaluate", "--model", model, "--data", folder / f"{data}.test", "--format", "libsvm", "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    steps = [{"pass": line["pass"], **line["descent"]} for line in lines if line.get("descent")]
    return {"data": data, "case": case, **said, "model": None, "seed": seed, "test_error": 1 - found["accuracy"], "records": steps}


def main():
    parser = standard_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    lines = ["# The binary experiments of the SFD thesis", "", "`scripts/thesis.py`; mean ± deviation over seeds.", ""]
    with open(args.out / "raw.jsonl", "a") as raw, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        split(args.data, folder)
        for data in SETS:
            rows = []
            for case in CASES:
                if args.only not in ("", data, f"{data} {case}"):
                    continue
                runs = [run(args.program, folder, data, case, seed) for seed in range(args.seeds)]
                raw.writelines(json.dumps(one) + "\n" for one in runs)
                raw.flush()
                of = lambda key: [one[key] for one in runs]
                mean = lambda key: statistics.mean(of(key))
                rows.append(
                    f"| {case} | {len(runs)} | {percent(of('test_error'))} | {mean('kernel_evaluations'):.3g} | "
                    f"{mean('support_vectors'):.0f} | {mean('wall_seconds'):.1f} |"
                )
                print(data, rows[-1], flush=True)
            if rows:
                lines += [f"## {data}", "", "| case | seeds | test error, % | kernel values | support vectors | wall s |"]
                lines += ["|---|---|---|---|---|---|", *rows, ""]
    with open(args.out / "summary.md", "a") as summary:
        summary.write("\n".join(lines))


if __name__ == "__main__":
    main()
