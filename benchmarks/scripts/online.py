#!/usr/bin/env python3
"""Online solvers after two epochs, in the manner of the SFD thesis (Table 5.3), linear: test errors on a9a and ijcnn1.

    online.py --program target/dist/multiplane --data DIR --out DIR [--seeds 5]

DIR holds binary/ (`$MULTIPLANE_DATA`). Every solver draws 2 n examples (`--passes 2`), 1 % of n at a step; `auto` has a row with
50 passes beside it. A run answers with w = 0 where that has the lower primal value, so the error of the last iterate stands
beside that of the answer. Writes summary.md and raw.jsonl.
"""

import json
import pathlib
import statistics
import subprocess
import tempfile

from common import percent, standard_parser

LAMBDAS = ["1e-2", "1e-3", "1e-4", "1e-5"]
LAST = ["averaging=none", "inner=one-slack"]
THESIS = [*LAST, "margins=clamped"]
CASES = [
    *[(solver, None, 2, []) for solver in ("sfd1", "sfd2")],
    *[(solver, None, 2, [*LAST, sets]) for sets in ("margins=clamped", "margins=exact") for solver in ("sfd1", "sfd2")],
    *[("sfd1", None, 2, [*THESIS, f"sampling={how}"]) for how in ("uniform", "importance")],
    *[("sfd1", None, 2, [*THESIS, f"schedule.value={value}"]) for value in ("0.03", "0.3")],
    *[(solver, x, 2, []) for solver in ("pegasos", "pegasos-avg", "auto") for x in LAMBDAS],
    ("auto", "1/n", 50, []),
    *[("sampled-cuts", x, passes, ["size=0.01"]) for x in ("1e-3", "1e-4") for passes in (2, 20)],
]


def run(args, data, case, seed, folder):
    solver, strength, passes, sets = case
    folder = pathlib.Path(folder)
    record = folder / "record.jsonl"
    record.unlink(missing_ok=True)
    command = [args.program, "train", "--task", "binary", "--data", f"{args.data}/binary/{data}.gz"]
    command += ["--test", f"{args.data}/binary/{data}.t.gz", "--solver", solver, "--passes", str(passes)]
    command += ["--seed", str(seed), "--threads", "1", "--json", "--set", "task.bias=true", "--record", str(record)]
    command += ["--lambda", strength] if strength else []
    command += [word for pair in sets for word in ("--set", f"solver.{pair}")]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    last = json.loads(record.read_text().splitlines()[-1])["test_loss"]
    return {"data": data, "case": case, "seed": seed, "last": last, **said}


def main():
    parser = standard_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    lines = ["# Online solvers after two epochs", "", f"`scripts/online.py`; {args.seeds} seeds, mean ± deviation, linear with bias.", ""]
    with open(args.out / "raw.jsonl", "w") as raw, tempfile.TemporaryDirectory() as folder:
        for data in ("a9a", "ijcnn1"):
            lines += [f"## {data}", "", "| solver | lambda | passes | test error, % | of the last iterate, % | calls / n |"]
            lines += ["|---|---|---|---|---|---|"]
            for case in CASES:
                runs = [run(args, data, case, seed, folder) for seed in range(args.seeds)]
                raw.writelines(json.dumps(one) + "\n" for one in runs)
                calls = statistics.mean(one["oracle_calls"] / one["n"] for one in runs)
                errors = [percent([one[key] for one in runs]) for key in ("test_loss", "last")]
                name = ", ".join([case[0], *case[3]])
                lines.append(f"| {name} | {case[1] or '-'} | {case[2]} | {errors[0]} | {errors[1]} | {calls:.1f} |")
                print(lines[-1], flush=True)
            lines.append("")
    (args.out / "summary.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
