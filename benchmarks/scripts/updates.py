"""Calls of updates of OCR words, next to those of training from the start, all to a gap of 1 % at lambda = 1/n.

    python updates.py --program multiplane --data DIR --out FOLDER [--folds 0]

Removes single words, 1 % and 10 % at random (seed 1), and adds the latter again. One line of JSON each: calls of update and
training, evaluations counted, their work by the work clock, and the gap at the end.
"""

import gzip
import json
import pathlib
import random
import shutil
import subprocess
import tempfile

from common import finish, standard_parser


def words(path, folds):
    found, word = [], []
    for line in gzip.open(path, "rt"):
        word.append(line)
        if line.split("\t")[2] == "-1":
            found += [word] if folds is None or word[0].split("\t")[5] in folds else []
            word = []
    return found


def main():
    parser = standard_parser(__doc__)
    parser.add_argument("--folds", help="of all ten: as in 0,3")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    all_words = words(asked.data / "ocr" / "letter.data.gz", asked.folds and asked.folds.split(","))
    n, rng = len(all_words), random.Random(1)
    with tempfile.TemporaryDirectory() as place, open(asked.out / "updates.jsonl", "a") as records:
        folder = pathlib.Path(place)

        def run(command, left, checkpoint):
            with open(folder / "data", "w") as file:
                file.writelines(line for word in left for line in word)
            options = ["--task", "chain", "--lambda", "1/n", "--gap", "1%", "--clock", "work"] if command == "train" else []
            arguments = [command, *options, "--data", str(folder / "data"), "--checkpoint", str(folder / checkpoint), "--out", str(folder / "model"), "--json"]
            return json.loads(subprocess.run([asked.program, *arguments], capture_output=True, text=True, check=True).stdout)

        def compare(change, left, before, anew):
            shutil.copy(folder / before, folder / "update")
            updated = run("update", left, "update")
            record = {"words": n, "change": change}
            for name, one in (("update", updated), ("anew", anew)):
                record[f"{name}_calls"] = one["oracle_calls"] + one["evaluation_calls"]
                record[f"{name}_work"] = round(one.get("train_seconds", 0) + one.get("evaluation_seconds", 0), 3)
                record[f"{name}_gap"] = round(one["gap"] / one["primal"], 5)
            record["share"] = round(record["update_calls"] / record["anew_calls"], 4)
            print(json.dumps(record), file=records, flush=True)
            print(json.dumps(record), flush=True)

        whole = run("train", all_words, "whole")
        for change, count in (("without 1 word", 1), ("without 1 word", 1), ("without 1 word", 1), ("without 1 %", n // 100), ("without 10 %", n // 10)):
            gone = set(rng.sample(range(n), count))
            left = [word for place, word in enumerate(all_words) if place not in gone]
            (folder / "part").unlink(missing_ok=True)
            anew = run("train", left, "part")
            compare(change, left, "whole", anew)
        compare("with 10 % more", all_words, "part", whole)


if __name__ == "__main__":
    finish(main)
