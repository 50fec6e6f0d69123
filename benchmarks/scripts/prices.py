"""Compares the prices that decisions go by with what operations take on this machine.

Calls: the mean time of the oracle's calls in some passes of bcfw. Cached steps: two runs of mp-bcfw with block solves and a
fixed number of approximate passes, whose difference in training time is that of the steps between them; the price is what
the run's own record says. Writes one row per data set: measured and priced, in microseconds, and their ratio.

    python benchmarks/scripts/prices.py --program target/dist/multiplane --data DIR --out rows.tsv
"""

import json
import pathlib
import statistics
import subprocess
import tempfile

from common import standard_parser

SETS = {
    "ocr-0": ["chain", "ocr/letter.data.gz", "--set", "data.folds=0"],
    "ocr": ["chain", "ocr/letter.data.gz"],
    "conll2000": ["chain", "conll2000/train.txt.gz"],
    "usps": ["multiclass", "usps/usps.gz"],
    "letter": ["multiclass", "multiclass/letter.gz"],
    "satimage": ["multiclass", "multiclass/satimage.gz"],
    "mnist_5k": ["multiclass", "multiclass/mnist_5k.csv.gz"],
    "a9a": ["binary", "binary/a9a.gz"],
    "w8a": ["binary", "binary/w8a.gz"],
    "ijcnn1": ["binary", "binary/ijcnn1.gz"],
}


def train(program, data, name, *more):
    task, path, *rest = SETS[name]
    with tempfile.TemporaryDirectory() as folder:
        record = pathlib.Path(folder) / "record"
        command = [program, "train", "--task", task, "--data", str(data / path), *rest, "--lambda", "0.01", "--gap", "0"]
        command += ["--json", "--quiet", "--record", str(record), *more]
        summary = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return summary, json.loads(record.read_text().splitlines()[-1]).get("decisions")


def row(program, data, name, repeats):
    calls, steps = [], []
    for _ in range(repeats):
        plain, _ = train(program, data, name, "--solver", "bcfw", "--passes", "3")
        calls.append(plain["oracle_seconds"] / plain["oracle_calls"])
        runs = []
        for passes in (2, 12):
            fixed = ["--set", "solver.planes.slope_rule=false", "--set", f"solver.planes.max_passes={passes}"]
            runs.append(train(program, data, name, "--passes", "4", *fixed))
        (few, _), (many, decisions) = runs
        steps.append((many["train_seconds"] - few["train_seconds"]) / max(1, many["cached_steps"] - few["cached_steps"]))
    call, step = statistics.median(calls), statistics.median(steps)
    priced_call, priced_step = decisions["call_seconds"], decisions["step_seconds"]
    return call, priced_call, priced_call / call, step, priced_step, priced_step / step


def main():
    parser = standard_parser(__doc__)
    parser.add_argument("--only", help="names, with commas between")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else list(SETS)
    lines = ["set\tcall us\tpriced us\tratio\tstep us\tpriced us\tratio"]
    for name in names:
        call, priced_call, of_call, step, priced_step, of_step = row(
            arguments.program, arguments.data, name, arguments.repeats
        )
        micro = [1e6 * call, 1e6 * priced_call, of_call, 1e6 * step, 1e6 * priced_step, of_step]
        lines.append(name + "".join(f"\t{value:.3f}" for value in micro))
        print(lines[-1], flush=True)
    arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
