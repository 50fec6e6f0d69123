"""Labels made wrong: how many of them `suspects` has in its first tenth, next to cleanlab's out-of-sample method.

    python suspects.py --data DIR --out FOLDER [--only ocr,conll,usps,satimage,horses] [--noise uniform,pairs,runs] [--seeds 3]

Needs the package `multiplane`, scikit-learn and, for the rival, `cleanlab`. DIR has the data sets; horses are read from
`DIR/graphs/horses.safetensors` as `vision_features.py --build-only` makes it. Both sides judge each label by models
that were trained without its example, in five parts. The rival trains scikit-learn's `LogisticRegression` on the
features of each token, row or node (of its neighbours too, for tokens of text) and ranks by cleanlab's
`get_label_quality_scores`. Seconds are CPU seconds of training and judging; one line of JSON each.
"""

import argparse
import gzip
import json
import pathlib
import struct
import time

import numpy as np
from common import finish

SHARE = 0.05


def ocr(data, limit):
    """The words of all folds."""
    words = {}
    for line in gzip.open(data / "ocr" / "letter.data.gz", "rt"):
        fields = line.rstrip("\n").split("\t")
        words.setdefault(fields[3], []).append(fields)
    words = list(words.values())[:limit]
    return [np.array([[float(v) for v in row[6:134]] for row in word]) for word in words], [
        np.array([ord(row[1]) - ord("a") for row in word]) for word in words
    ]


def conll(data, limit):
    """Sentences with words and parts of speech of a window as features."""
    from sklearn.feature_extraction import DictVectorizer

    sentences = gzip.open(data / "conll2000" / "train.txt.gz", "rt").read().strip().split("\n\n")[: limit or 2000]
    features, labels, tags = [], [], {}
    for sentence in sentences:
        tokens = [line.split() for line in sentence.split("\n")]

        def field(k, column, tokens=tokens):
            return tokens[k][column] if 0 <= k < len(tokens) else "_"

        for k in range(len(tokens)):
            words = {f"w{d}={field(k + d, 0).lower()}": 1.0 for d in (-1, 0, 1)}
            parts = {f"p{d}={field(k + d, 1)}": 1.0 for d in (-2, -1, 0, 1, 2)}
            features.append(words | parts | {f"pp={field(k - 1, 1)} {field(k, 1)}": 1.0})
        labels.append(np.array([tags.setdefault(token[2], len(tags)) for token in tokens]))
    matrix, ends = DictVectorizer().fit_transform(features).tocsr(), np.cumsum([0, *map(len, labels)])
    return [matrix[a:b] for a, b in zip(ends, ends[1:])], labels


def rows(path, scale):
    from sklearn.datasets import load_svmlight_file

    x, y = load_svmlight_file(str(path))
    x = x.toarray()
    return (x / np.abs(x).max(axis=0).clip(1e-9) if scale else x), np.unique(y, return_inverse=True)[1]


def horses(data, limit):
    """Graphs of superpixels, from a container of `vision_features.py`."""
    with open(data / "graphs" / "horses.safetensors", "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        content = file.read()

    def array(name):
        one = header[name]
        kind = {"I64": np.int64, "F32": np.float32, "F64": np.float64}[one["dtype"]]
        return np.frombuffer(content[slice(*one["data_offsets"])], dtype=kind).reshape(one["shape"])

    nodes, edges = array("node_offsets"), array("edge_offsets")
    x, y = [], []
    for i in range(min(len(nodes) - 1, limit or len(nodes))):
        of, between = slice(nodes[i], nodes[i + 1]), slice(edges[i], edges[i + 1])
        x.append((array("node_features")[of].astype(float), array("edges")[between], array("edge_features")[between].astype(float)))
        y.append(array("labels")[of])
    return x, y


def noisy(labels, noise, rng):
    """Labels, about one in twenty of them wrong, and the places of the wrong ones. The wrong label is drawn evenly, the next
    one, or the same for three in a row.
    """
    count = 1 + max(int(y.max()) for y in labels)
    found, places = [], []
    for y in labels:
        wrong = rng.random(len(y)) < (SHARE / 3 if noise == "runs" else SHARE)
        if noise == "runs":
            wrong |= np.r_[False, wrong[:-1]] | np.r_[False, False, wrong[:-2]][: len(y)]
        by = {"uniform": rng.integers(1, max(2, count), len(y)), "pairs": np.ones(len(y), int), "runs": rng.integers(1, max(2, count))}
        found.append(np.where(wrong, (y + by[noise]) % count, y))
        places.append(wrong)
    return found, np.concatenate(places)


def in_first_tenth(order, wrong):
    return float(wrong[order[: max(1, len(wrong) // 10)]].sum() / wrong.sum())


def ours(name, x, given, lam):
    """The numbers of all parts, the most suspicious first."""
    from multiplane import ChainSSVM, GraphSSVM, MulticlassSSVM

    starts = np.cumsum([0, *map(len, given)])
    if name in ("usps", "satimage"):
        x, given = np.concatenate(x), np.concatenate(given)
        starts = np.arange(len(given) + 1)
    # Where an example has hundreds of nodes its features are sums over them, and 1/n is far too small.
    kind = {"horses": lambda: GraphSSVM(lam=1.0, pairwise="cut", gap="10%"), "usps": MulticlassSSVM, "satimage": MulticlassSSVM}
    model = kind.get(name, ChainSSVM)()
    model.set_params(threads=1)
    model.set_params(gap="5%") if name != "horses" else None
    if name in ("usps", "satimage"):
        model.set_params(bias=True, lam=lam / len(given))
    model.fit(x, given)
    return np.array([starts[one["example"]] + one["part"] for one in model.suspects(x, given)])


def theirs(name, x, given, rng):
    from cleanlab.rank import get_label_quality_scores
    from scipy import sparse
    from sklearn.linear_model import LogisticRegression

    nodes = [one[0] if isinstance(one, tuple) else one for one in x]
    features = sparse.vstack(nodes).tocsr() if sparse.issparse(nodes[0]) else np.concatenate(nodes)
    labels = np.concatenate(given)
    fold = np.concatenate([np.full(len(y), part) for y, part in zip(given, rng.permutation(len(given)) % 5)])
    shares = np.zeros((len(labels), int(labels.max()) + 1))
    for part in range(5):
        model = LogisticRegression(max_iter=200).fit(features[fold != part], labels[fold != part])
        shares[np.ix_(fold == part, model.classes_)] = model.predict_proba(features[fold == part])
    return np.argsort(get_label_quality_scores(labels, shares), kind="stable")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="usps,satimage,horses,conll,ocr")
    parser.add_argument("--noise", default="uniform,pairs,runs")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=int, help="the first examples only")
    parser.add_argument("--rows-lam", type=float, default=10.0, help="lambda times n, for rows: at 1/n a model learns the mistakes")
    parser.add_argument("--alone", action="store_true", help="without the rival")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with open(asked.out / "suspects.jsonl", "a") as records:
        for name in asked.only.split(","):
            if name in ("usps", "satimage"):
                path = {"usps": "usps/usps.gz", "satimage": "multiclass/satimage.gz"}[name]
                x, y = rows(asked.data / path, name == "satimage")
                x, y = list(x[: asked.limit, None, :]), list(y[: asked.limit, None])
            else:
                x, y = {"ocr": ocr, "conll": conll, "horses": horses}[name](asked.data, asked.limit)
            for noise in asked.noise.split(","):
                if noise == "runs" and name in ("usps", "satimage", "horses"):
                    continue
                for seed in range(asked.seeds):
                    given, wrong = noisy(y, noise, np.random.default_rng(seed))
                    record = {"data": name, "noise": noise, "seed": seed, "parts": len(wrong), "wrong": int(wrong.sum())}
                    record |= {"rows_lam": asked.rows_lam} if name in ("usps", "satimage") else {}
                    for who, ranked in (("ours", lambda: ours(name, x, given, asked.rows_lam)), ("cleanlab", lambda: theirs(name, x, given, np.random.default_rng(seed)))):
                        if who == "cleanlab" and asked.alone:
                            continue
                        start = time.process_time()
                        record[who] = round(in_first_tenth(ranked(), wrong), 4)
                        record[f"{who}_seconds"] = round(time.process_time() - start, 2)
                    print(json.dumps(record), file=records, flush=True)
                    print(json.dumps(record), flush=True)


if __name__ == "__main__":
    finish(main)
