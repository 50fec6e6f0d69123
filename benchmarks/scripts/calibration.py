"""How often prediction sets hold the truth, and the calibration error of tokens before and after `calibrate`.

    python calibration.py --data DIR --out FOLDER [--only ocr,conll,usps] [--splits 20]

Needs the package `multiplane` and scikit-learn. One model is trained on a part of the examples. The others are split at
random, 20 times, into those of `calibrate` and those that are measured. One line of JSON a split: the share of parts whose truth is
in its set at alpha = 0.1 (mean over examples, which is what is promised), the mean size of the sets, the share of whole
examples at alpha = 0.1, and the expected calibration error of labels before, and after by temperature and by isotonic
regression.
"""

import argparse
import json
import pathlib

import numpy as np
from common import finish
from suspects import conll, ocr, rows


def chosen(x, places):
    return [x[i] for i in places] if isinstance(x, list) else x[places]


def main():
    from multiplane import ChainSSVM, MulticlassSSVM

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="usps,conll,ocr")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--train", type=int, default=1500, help="examples of the training")
    parser.add_argument("--limit", type=int, default=4500, help="examples in all")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with open(asked.out / "calibration.jsonl", "a") as records:
        for name in asked.only.split(","):
            if name == "usps":
                x, y = rows(asked.data / "usps/usps.gz", False)
                model = MulticlassSSVM(bias=True, gap="2%")
            else:
                x, y = {"ocr": ocr, "conll": conll}[name](asked.data, asked.limit)
                model = ChainSSVM(gap="5%")
            rng = np.random.default_rng(0)
            order = rng.permutation(len(y))[: asked.limit]
            trained, others = order[: asked.train], order[asked.train :]
            model.fit(chosen(x, trained), chosen(y, trained))
            there = set(model.classes_.tolist())
            for split in range(asked.splits):
                others = rng.permutation(others)
                held, seen = others[: len(others) // 2], others[len(others) // 2 :]
                record = {"data": name, "split": split, "calibrated": len(held), "measured": len(seen)}
                for method in ("isotonic", "temperature"):
                    model.calibrate(chosen(x, held), chosen(y, held), method=method)
                    record[method] = round(model.reliability(chosen(x, seen), chosen(y, seen)).error, 4)
                model._model = model._model.with_calibration(json.dumps({"beta": 1.0}))  # as the model has it before
                record["before"] = round(model.reliability(chosen(x, seen), chosen(y, seen)).error, 4)
                model.calibrate(chosen(x, held), chosen(y, held))
                sets, truth = model.predict_set(chosen(x, seen), alpha=0.1), chosen(y, seen)
                sets, truth = ([[one] for one in sets], [[one] for one in truth]) if name == "usps" else (sets, truth)
                # Labels that training never saw have no place in a set, and are left out as `calibrate` leaves them out.
                known = [[(one, label) for one, label in zip(of, labels) if label in there] for of, labels in zip(sets, truth)]
                record["covered"] = round(float(np.mean([np.mean([label in one for one, label in of]) for of in known if of])), 4)
                record["size"] = round(float(np.mean([len(one) for of in known for one, _ in of])), 3)
                whole = model.predict_set(chosen(x, seen), alpha=0.1, whole=True)
                whole = [[one] for one in whole] if name == "usps" else whole
                held_all = [all(label in one for one, label in zip(of, labels) if label in there) for of, labels in zip(whole, truth)]
                record["whole"] = round(float(np.mean(held_all)), 4)
                print(json.dumps(record), file=records, flush=True)
                print(json.dumps(record), flush=True)


finish(main)
