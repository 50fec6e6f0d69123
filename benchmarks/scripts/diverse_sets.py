#!/usr/bin/env python3
"""Further labellings in the working sets of `auto` and `mp-bcfw`, and calls drawn toward an average (docs/adr/0039).

    diverse_sets.py --program PROGRAM --data $MULTIPLANE_DATA --horses DIR/horses.safetensors --out DIR
                    [--sets ocr,usps,conll,glyphs,horses] [--parts calls,seconds,mp,inward] [--seeds 3]
    diverse_sets.py --draw --out DIR

PROGRAM is built from commit 57cf6c2, which has the two parameters; they are not in later ones. horses.safetensors comes of
`vision_features.py --build-only`. All runs are on one thread and go on to a certified relative gap. Parts:

* calls: `auto` on the work clock, which repeats to the bit, with a call of 1 ms where calls are cheap: passes all in, which
  are oracle calls, those for further labellings, and calls of evaluations, by n.
* seconds: `auto` on the wall clock without any delay: processor seconds of whole processes, reading included.
* mp: `mp-bcfw` on the work clock, to a gap that it gets to.
* inward: `auto` as in `calls`, with calls at w + inward (average - w).

Appends to raw.jsonl as runs end, and writes summary.md: means over seeds, in brackets times M = 1 and exact passes.
"""

import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import tempfile


def solutions(kind, planes, *more):
    """Options of further labellings."""
    settings = [f"solver.solutions={kind}", f"solver.solutions.planes={planes}", *more]
    return [word for setting in settings for word in ("--set", setting)]


FURTHER = {
    "M = 1": [],
    "diverse 2": solutions("diverse", 2),
    "diverse 4": solutions("diverse", 4),
    "m-best 2": solutions("m-best", 2),
    "m-best 4": solutions("m-best", 4),
    "diverse 2, first pass": solutions("diverse", 2, "solver.solutions.anneal=1"),
    "rand 2": solutions("rand", 2),
}
INWARD = {f"inward {share}": ["--set", f"solver.inward={share}"] for share in (0.1, 0.25, 0.5)}
DELAYED = ["--clock", "work", "--set", "oracle.delay_us=1000"]
PARTS = {
    "calls": ("auto", FURTHER),
    "seconds": ("auto", FURTHER),
    "mp": ("mp-bcfw", FURTHER),
    "inward": ("auto", {"M = 1": [], **INWARD}),
}
# Where a list of four takes minutes of every pass.
DEAR = {("horses", "m-best 4")}
MOST_PASSES = "400"


def problems(options, folder):
    """Arguments of training by set."""
    text = gzip.open(options.data / "conll2000/train.txt.gz", "rt", encoding="utf-8").read()
    sentences = [block.strip("\n") for block in text.split("\n\n") if block.strip()]
    first = pathlib.Path(folder) / "first.conll"
    first.write_text("\n\n".join(sentences[:1000]) + "\n", encoding="utf-8")
    glyphs = pathlib.Path(folder) / "glyphs.data"
    subprocess.run([options.program, "data", "make", "letters", "--out", glyphs], check=True)
    return {
        "ocr": ["--task", "chain", "--data", options.data / "ocr/letter.data.gz", "--set", "data.folds=0"],
        "usps": ["--task", "multiclass", "--data", options.data / "usps/usps.gz"],
        "conll": ["--task", "chain", "--data", first, "--format", "conll", "--set", "task.template=chunking"],
        "glyphs": ["--task", "chain", "--data", glyphs],
        "horses": ["--task", "graph", "--data", options.horses, "--lambda", "1"],
    }


def clock(part, name):
    """Clock and delay: calls of horses are dear by themselves."""
    if part == "seconds":
        return ["--clock", "wall"]
    return ["--clock", "work"] if name == "horses" or part == "mp" else DELAYED


def target(part, name):
    """The gap: mp-bcfw is far from 1 % on chains after 400 passes."""
    return "10%" if part == "mp" and name in ("ocr", "conll", "glyphs") else "1%"


def one_run(options, problem, part, name, variant, seed):
    """A row of raw.jsonl."""
    solver, variants = PARTS[part]
    command = [options.program, "train", *problem, "--solver", solver, "--gap", target(part, name), "--passes", MOST_PASSES,
               "--threads", "1", "--seed", seed, "--json", "--quiet", *clock(part, name), *variants[variant]]
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{command}: status {status}")
    report = json.loads(text)
    keys = ["n", "d", "lambda", "primal", "dual", "gap", "oracle_calls", "evaluation_calls", "iterations", "cached_steps",
            "planes", "train_seconds", "oracle_seconds", "stop_reason"]
    return {"part": part, "set": name, "variant": variant, "solver": solver, "seed": seed,
            **{key: report[key] for key in keys}, "passes_all_in": (report["oracle_calls"] + report["evaluation_calls"])
            / report["n"], "cpu_seconds": usage.ru_utime + usage.ru_stime}


def measure(options):
    """All runs, in turns."""
    with tempfile.TemporaryDirectory() as folder, open(options.out / "raw.jsonl", "a", encoding="utf-8") as raw:
        sets = problems(options, folder)
        for name in options.sets.split(","):
            for part in options.parts.split(","):
                for seed in range(1 if part == "mp" else options.seeds):
                    for variant in PARTS[part][1]:
                        if (name, variant) not in DEAR:
                            raw.write(json.dumps(one_run(options, sets[name], part, name, variant, seed)) + "\n")
                            raw.flush()


def draw(out):
    """summary.md of raw.jsonl: one table for each part."""
    rows = [json.loads(line) for line in (out / "raw.jsonl").read_text(encoding="utf-8").splitlines()]
    lines = ["# Further labellings in working sets", "", "Means over seeds; in brackets times M = 1, and exact passes.", ""]
    for part, (solver, variants) in PARTS.items():
        of_part = [row for row in rows if row["part"] == part]
        key = "cpu_seconds" if part == "seconds" else "passes_all_in"
        names = list(dict.fromkeys(row["set"] for row in of_part))
        lines += [f"## {part}: {key}, `{solver}`", "", "| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
        mean = {}
        for variant in variants:
            cells = []
            for name in names:
                found = [row for row in of_part if (row["set"], row["variant"]) == (name, variant)]
                if not found:
                    cells.append("")
                    continue
                mean[name, variant] = statistics.mean(row[key] for row in found)
                bound = "" if all(row["stop_reason"] == "gap" for row in found) else "> "
                iterations = statistics.mean(row["iterations"] for row in found)
                ratio = mean[name, variant] / mean[name, "M = 1"]
                cells.append(f"{bound}{mean[name, variant]:.2f} (x {ratio:.2f}; {iterations:.1f})")
            lines.append(f"| {variant} | " + " | ".join(cells) + " |")
        lines.append("")
    (out / "summary.md").write_text("\n".join(lines), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--horses", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--sets", default="ocr,usps,conll,glyphs,horses")
    parser.add_argument("--parts", default="calls,seconds,mp,inward")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    if not options.draw:
        measure(options)
    draw(options.out)


if __name__ == "__main__":
    main()
