#!/usr/bin/env python3
"""Which lambda predicts best where nobody has chosen one: none given, 1/n, `scale` and `cv` beside a grid of ten.

    default_lambda.py --program target/dist/multiplane --data $MULTIPLANE_DATA --out DIR [--only NAME ...] [--graphs DIR]

--graphs is a folder with `horses.safetensors`, `stanford.safetensors` (40 photographs each) and `horses.t.safetensors`,
`stanford.t.safetensors` (others, made `--like` them), by `python -m multiplane.vision graph`.

Every set of rows and of sequences in the data directory: each rule and each point of the grid is one run of the command line
(all else by default, one thread), whose losses on the test part are set beside the CPU seconds of the whole process, from
reading to the saved model. The grid is n lambda = 0.1 ... 3162 in half decades; its best point is found by looking at the test
part, which no rule may. Writes raw.jsonl, and prints a table in Markdown.
"""

import gzip
import json
import pathlib
import random
import resource
import subprocess
import tempfile

from common import standard_parser

RULES = ["1/n", "scale", "cv", "none"]
GRID = [10 ** (k / 2 - 1) for k in range(10)]


def problems(data, folder, graphs=None):
    """By name: arguments of training, and of the test."""
    rows, words = data / "multiclass", data / "ocr/letter.data.gz"
    shuffled = gzip.open(rows / "mnist_5k.csv.gz", "rt").readlines()
    random.Random(0).shuffle(shuffled)
    (folder / "mnist.csv").write_text("".join(shuffled[:4000]))
    (folder / "mnist.t.csv").write_text("".join(shuffled[4000:]))
    blocks = gzip.open(data / "conll2000/train.txt.gz", "rt").read().split("\n\n")
    (folder / "conll.txt").write_text("\n\n".join(blocks[:500]) + "\n\n")

    def pair(task, train, test, folds=None, test_folds=None):
        chosen = [["--set", f"data.folds={which}"] if which else [] for which in (folds, test_folds)]
        return ["--task", task, "--data", str(train), *chosen[0]], ["--data", str(test), *chosen[1]]

    photographs = ["horses", "stanford"] if graphs else []
    return {
        **{f"{name}, 40 photographs": pair("graph", graphs / f"{name}.safetensors", graphs / f"{name}.t.safetensors")
           for name in photographs},
        "usps": pair("multiclass", data / "usps/usps.gz", data / "usps/usps.t.gz"),
        "satimage, raw": pair("multiclass", rows / "satimage.gz", rows / "satimage.t.gz"),
        "letter, raw": pair("multiclass", rows / "letter.gz", rows / "letter.t.gz"),
        "mnist_5k, raw": pair("multiclass", folder / "mnist.csv", folder / "mnist.t.csv"),
        "ocr, fold 0": pair("chain", words, words, "0", "1"),
        "ocr, folds 1-9": pair("chain", words, words, "1-9", "0"),
        "conll2000, 500 sentences": pair("chain", folder / "conll.txt", data / "conll2000/test.txt.gz"),
        "conll2000": pair("chain", data / "conll2000/train.txt.gz", data / "conll2000/test.txt.gz"),
    }


def run(program, problem, lam):
    """What one training costs, and how it predicts."""
    train, test = problem
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/model"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        given = [] if lam == "none" else ["--lambda", str(lam)]
        command = [program, "train", *train, *given, "--threads", "1", "--json", "--out", model]
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = json.loads(out)
        judge = [program, "evaluate", "--model", model, *test, "--json"]
        found = json.loads(subprocess.run(judge, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    kept = {key: told[key] for key in ("n", "lambda", "primal", "gap", "certified", "passes", "stop_reason", "train_loss")}
    return {"cpu_seconds": seconds, "accuracy": found["accuracy"], "test_loss": found["loss"], **kept}


def main():
    parser = standard_parser(__doc__)
    parser.add_argument("--only", nargs="*", help="names of sets")
    parser.add_argument("--graphs", type=pathlib.Path, help="folder of photographs as graphs")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    print("| data | accuracy: best of the grid (n lambda), 1/n, `scale`, `cv`, none given (n lambda) | CPU s: at the grid's best, "
          "1/n, `cv`, none given |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, (args.out / "raw.jsonl").open("a", encoding="utf-8") as raw:
        for name, problem in problems(args.data, pathlib.Path(folder), args.graphs).items():
            if args.only and name not in args.only:
                continue
            found = {}
            for rule in RULES:
                if rule != "scale" or not name.startswith("conll") and "photographs" not in name:  # features without a norm
                    found[rule] = run(args.program, problem, rule)
            n = found["1/n"]["n"]
            for scaled in GRID:
                found[scaled] = found["1/n"] if scaled == 1 else run(args.program, problem, scaled / n)
            for rule, row in found.items():
                raw.write(json.dumps({"data": name, "rule": rule, **row}) + "\n")
            raw.flush()
            best = max(GRID, key=lambda scaled: found[scaled]["accuracy"])
            shown = [f"{100 * found[key]['accuracy']:.2f}" if key in found else "-" for key in (best, *RULES)]
            seconds = [f"{found[key]['cpu_seconds']:.1f}" for key in (best, "1/n", "cv", "none")]
            print(f"| {name} | {shown[0]} ({best:.3g}), {', '.join(shown[1:])} ({found['none']['lambda'] * n:.3g}) | {', '.join(seconds)} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
