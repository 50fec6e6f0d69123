"""Model files: from Python to the command line and back, byte for byte; pickles; readers of data."""

import copy
import gzip
import hashlib
import json
import pickle
import subprocess

import numpy as np
import pytest
from conftest import blobs, sequences
from problems import Multiclass, Viterbi

import multiplane
from multiplane import BinarySSVM, ChainSSVM, MulticlassSSVM, PathResult, StructuredSVM, TreeSSVM
from multiplane import load, load_csv, load_hmm, load_multilabel


def libsvm(path, x, y):
    """Writes rows as LIBSVM text; numbers come back as they were."""
    lines = [
        f"{label} " + " ".join(f"{k + 1}:{float(value)!r}" for k, value in enumerate(row) if value)
        for row, label in zip(x, y, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def hmm(path, xs, ys):
    """Writes sequences as SVM-hmm text."""
    lines = [
        f"{label} qid:{i + 1} " + " ".join(f"{k + 1}:{float(value)!r}" for k, value in enumerate(row))
        for i, (x, y) in enumerate(zip(xs, ys, strict=True))
        for row, label in zip(x, y, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(cli, *arguments):
    done = subprocess.run([cli, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


CASES = [
    ("binary", BinarySSVM, {}),
    ("binary", BinarySSVM, {"task.bias": True}),
    ("multiclass", MulticlassSSVM, {}),
    ("multiclass", MulticlassSSVM, {"task.bias": True, "solver.order": "gap"}),
    ("chain", ChainSSVM, {}),
    ("chain", ChainSSVM, {"task.ends": True}),
]


def case(task):
    if task == "chain":
        return sequences()
    return blobs(2 if task == "binary" else 3)


@pytest.mark.parametrize(("task", "kind", "params"), CASES, ids=lambda value: str(value)[:40])
def test_the_same_bytes_as_the_command_line(cli, tmp_path, task, kind, params):
    """Built-in tasks under the work clock: the same problem gives the same model file, byte for byte."""
    x, y = case(task)
    data = (hmm if task == "chain" else libsvm)(tmp_path / "data.txt", x, y)
    values = {key: json.dumps(value).strip('"') for key, value in params.items()}
    sets = [argument for key, value in values.items() for argument in ("--set", f"{key}={value}")]
    format_ = "hmm" if task == "chain" else "libsvm"
    run(cli, "train", "--task", task, "--data", data, "--format", format_, "--clock", "work", "--gap", "1%",
        "--lambda", "0.05", "--seed", 3, "--out", tmp_path / "cli.safetensors", "--quiet", *sets)  # fmt: skip
    model = kind(clock="work", gap="1%", lam=0.05, seed=3, params=params or None).fit(x, y)
    model.save(tmp_path / "python.safetensors")
    assert (tmp_path / "python.safetensors").read_bytes() == (tmp_path / "cli.safetensors").read_bytes()


@pytest.mark.parametrize(("task", "kind", "params"), CASES, ids=lambda value: str(value)[:40])
def test_models_go_both_ways(cli, tmp_path, task, kind, params):
    """Python predicts with the program's models, and the program with Python's."""
    x, y = case(task)
    data = (hmm if task == "chain" else libsvm)(tmp_path / "data.txt", x, y)
    format_ = "hmm" if task == "chain" else "libsvm"
    model = kind(gap="1%", params=params or None).fit(x, y)
    model.save(tmp_path / "m.safetensors")
    where = ("--model", tmp_path / "m.safetensors", "--data", data, "--format", format_)
    told = json.loads(run(cli, "evaluate", *where, "--json"))
    assert told["accuracy"] == pytest.approx(model.score(x, y))
    loaded = multiplane.load(tmp_path / "m.safetensors")
    assert type(loaded) is kind and np.array_equal(loaded.coef_, model.coef_)
    assert (loaded.primal_, loaded.dual_, loaded.certified_) == (model.primal_, model.dual_, model.certified_)
    assert loaded.score(x, y) == model.score(x, y)
    keywords = {key.removeprefix("task."): value for key, value in params.items() if key.startswith("task.")}
    assert keywords.items() <= loaded.get_params().items()
    assert not any(key.startswith("task.") for key in loaded.params or {})


@pytest.mark.parametrize(("task", "kind", "params"), CASES, ids=lambda value: str(value)[:40])
def test_save_load_and_pickle(tmp_path, task, kind, params):
    """Files and pickles predict the same; a loaded model writes the same bytes; it can be fitted again."""
    x, y = case(task)
    model = kind(clock="work", gap="1%", params=params or None).fit(x, y)
    model.save(tmp_path / "a")
    loaded = kind.load(tmp_path / "a")
    loaded.save(str(tmp_path / "b"))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    for other in (loaded, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.coef_, model.coef_)
        assert [np.asarray(p).tolist() for p in other.predict(x)] == [np.asarray(p).tolist() for p in model.predict(x)]
        assert np.array_equal(other.fit(x, y).coef_, model.coef_)


def test_names_of_classes_travel():
    """Labels that are text come back as text from files and pickles."""
    x, y = blobs(3)
    names = np.array(["north", "south", "west"])[y]
    model = MulticlassSSVM(gap="5%").fit(x, names)
    assert pickle.loads(pickle.dumps(model)).predict(x).tolist() == model.predict(x).tolist()


def test_models_of_users_tasks(tmp_path):
    """A user's task is needed to load; the weights come from the file."""
    x, y = blobs(3)
    x, y = list(x), y.tolist()
    model = StructuredSVM(Multiclass(), gap="5%").fit(x, y)
    model.save(tmp_path / "m")
    assert StructuredSVM.load(tmp_path / "m", Multiclass()).predict(x) == model.predict(x)
    assert pickle.loads(pickle.dumps(model)).predict(x) == model.predict(x)
    with pytest.raises(ValueError, match=r"12 weights, task.dim\(\) is 21"):
        StructuredSVM.load(tmp_path / "m", Viterbi(3, 4))
    with pytest.raises(ValueError, match="StructuredSVM.load"):
        multiplane.load(tmp_path / "m")


def test_wrong_files_are_named(tmp_path):
    """Damage, other things, other models: ValueError with the path and what is wrong."""
    (tmp_path / "text").write_text("hello")
    x, y = blobs(3)
    model = MulticlassSSVM(gap="5%").fit(x, y)
    model.save(tmp_path / "m")
    damaged = bytearray((tmp_path / "m").read_bytes())
    damaged[-3] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    for name in ("text", "damaged", "missing"):
        with pytest.raises((ValueError, OSError), match=name):
            multiplane.load(tmp_path / name)
    with pytest.raises(ValueError, match="holds a MulticlassSSVM, expected a BinarySSVM"):
        BinarySSVM.load(tmp_path / "m")
    with pytest.raises((RuntimeError, OSError, ValueError), match="nowhere"):
        model.save(tmp_path / "nowhere" / "m")


def crafted(content, change):
    """A model file with other fields and the right checksum."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    info = json.loads(header["__metadata__"]["multiplane"])
    change(info)
    if "checksum" in info:
        info["checksum"] = "0" * 64
    header["__metadata__"]["multiplane"] = json.dumps(info)
    text = json.dumps(header).encode()
    made = len(text).to_bytes(8, "little") + text + content[8 + length :]
    return made.replace(b"0" * 64, hashlib.sha256(made).hexdigest().encode(), 1)


def places(value, path=()):
    """The way to every field and item."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*path, key)
        yield from places(item, (*path, key))


@pytest.mark.filterwarnings("ignore")
def test_crafted_files_are_value_errors(tmp_path):
    """Fields that are missing or of another type, under the right checksum: a model, or a ValueError with the path."""
    x, y = blobs(3)
    MulticlassSSVM(gap="5%").fit(x, y).save(tmp_path / "m")
    ChainSSVM(passes=2).fit(*sequences(4)).save(tmp_path / "c")
    MulticlassSSVM(kernel="rbf", passes=2).fit(x, y).save(tmp_path / "k")
    refused = 0
    for name in ("m", "c", "k"):
        content = (tmp_path / name).read_bytes()
        length = int.from_bytes(content[:8], "little")
        info = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["multiplane"])
        for *way, key in places(info):
            for value in (None, 0, -1.5, "x", "", [], {}, [[]], True, 1 << 70, "drop"):

                def change(info, way=way, key=key, value=value):
                    for step in way:
                        info = info[step]
                    if value != "drop":
                        info[key] = value
                    else:
                        del info[key]

                (tmp_path / "crafted").write_bytes(crafted(content, change))
                try:
                    multiplane.load(tmp_path / "crafted")
                except ValueError as error:
                    assert "crafted" in str(error), (way, key, value)
                    refused += 1
    assert refused > 300


def test_paths_are_saved(tmp_path):
    """A path's file is a PathResult again, with the same weights."""
    x, y = blobs(3)
    path = MulticlassSSVM(gap=None).path(x, y, eps=0.2, lambda_min=0.01)
    path.save(tmp_path / "p")
    loaded = multiplane.load(tmp_path / "p")
    assert isinstance(loaded, PathResult) and np.array_equal(loaded.coef_, path.coef_)
    assert np.array_equal(loaded.at(0.05).predict(x), path.at(0.05).predict(x))
    with pytest.raises(ValueError, match="PathResult"):
        MulticlassSSVM.load(tmp_path / "p")


def test_readers(tmp_path):
    """What is read is what was written, plain or gzip; a bad line is named with its place."""
    x, y = blobs(3, n=9)
    file = libsvm(tmp_path / "rows.txt", x, y)
    found, labels = multiplane.load_libsvm(file)
    assert np.array_equal(found, x) and np.array_equal(labels, y)
    (tmp_path / "rows.gz").write_bytes(gzip.compress(file.read_bytes()))
    assert np.array_equal(multiplane.load_libsvm(tmp_path / "rows.gz", sparse=True)[0].toarray(), x)
    xs, ys = sequences(n=4)
    found, labels = multiplane.load_hmm(hmm(tmp_path / "s.txt", xs, ys))
    assert all(np.array_equal(a, b) for a, b in zip(found, xs, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(labels, ys, strict=True))
    (tmp_path / "s.conll").write_text("the D det\ncat N noun\n\nruns V verb\n")
    tokens, tags = multiplane.load_conll(tmp_path / "s.conll")
    assert tokens == [[("the", "D"), ("cat", "N")], [("runs", "V")]] and tags == [["det", "noun"], ["verb"]]
    (tmp_path / "rows.csv").write_text("1,2.5,0\n0,1,1\n")
    found, labels = multiplane.load_csv(tmp_path / "rows.csv")
    assert found.tolist() == [[1, 2.5], [0, 1]] and labels.tolist() == [0, 1]
    (tmp_path / "bad.txt").write_text("1 1:2\n-1 1:x\n")
    with pytest.raises(ValueError, match=r"bad.txt:2:\d+: "):
        multiplane.load_libsvm(tmp_path / "bad.txt")


def test_test_data_has_the_columns_of_training_data(tmp_path):
    """Files that lack the last features, or have more, are read with as many columns as are asked for."""
    x, y = blobs(2, n=10)
    file = libsvm(tmp_path / "rows.txt", x, y)
    for sparse in (False, True):
        found, _ = multiplane.load_libsvm(file, features=6, sparse=sparse)
        assert found.shape == (10, 6)
        with pytest.warns(UserWarning, match="20 values of features beyond 2 are left out"):
            found, _ = multiplane.load_libsvm(file, features=2, sparse=sparse)
        assert np.array_equal(found.toarray() if sparse else found, x[:, :2])
    xs, ys = sequences(n=4)
    file = hmm(tmp_path / "s.txt", xs, ys)
    assert all(sequence.shape[1] == 6 for sequence in multiplane.load_hmm(file, features=6)[0])
    with pytest.warns(UserWarning, match="beyond 2"):
        found = multiplane.load_hmm(file, features=2)[0]
    assert all(np.array_equal(a, b[:, :2]) for a, b in zip(found, xs, strict=True))


LABELS = {
    "booleans": (False, True), "digits": ("0", "1"), "zeros before": ("1", "01"), "zip codes": ("00501", "10001"),
    "signs": ("+1", "-1"), "two signs": ("--1", "--2"), "superscripts": ("\u00b9", "\u00b2"),
    "other digits": ("\u0661", "\u0662"),
    "floats": (0.0, 1.0), "texts": ("no", "yes"), "integers": (0, 1), "large": (2**60, 2**60 + 1),
}  # fmt: skip


@pytest.mark.parametrize("named", LABELS, ids=str)
@pytest.mark.parametrize("kind", [BinarySSVM, MulticlassSSVM, ChainSSVM, TreeSSVM], ids=lambda kind: kind.__name__)
def test_labels_survive_files(tmp_path, kind, named):
    """A loaded model tells as many labels apart as were saved, and scores as before, whatever labels look like."""
    no, yes = LABELS[named]
    rng = np.random.default_rng(0)
    if kind in (ChainSSVM, TreeSSVM):
        x = [rng.normal(size=(4, 2)) for _ in range(15)]
        y = [[yes if value > 0 else no for value in rows[:, 0]] for rows in x]
        x = [(rows, [-1, 0, 1, 2]) for rows in x] if kind is TreeSSVM else x
    else:
        x = rng.normal(size=(60, 2))
        y = np.array([yes if value > 0 else no for value in x[:, 0]])
    model = kind(lam=0.01, gap="5%").fit(x, y)
    model.save(tmp_path / "m")
    for again in (load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        assert len(set(again.classes_.tolist())) == 2 and again.score(x, y) == model.score(x, y) > 0.9


def test_labels_that_are_read(tmp_path):
    """Readers make numbers of labels only where each is the usual writing of one: no two labels become one."""
    (tmp_path / "t.csv").write_text('a,b,zip\n1,2,"00501"\n3,4,"10001"\n')
    assert load_csv(tmp_path / "t.csv")[1].tolist() == ["00501", "10001"]
    (tmp_path / "t.multilabel").write_text("01,1 1:1\n1 2:1\n01 3:1\n")
    assert sorted(load_multilabel(tmp_path / "t.multilabel")[2].tolist()) == ["01", "1"]
    (tmp_path / "t.hmm").write_text("01 qid:1 1:1\n1 qid:1 2:1\n\u00b2 qid:2 1:1\n")
    assert [labels.tolist() for labels in load_hmm(tmp_path / "t.hmm")[1]] == [["01", "1"], ["\u00b2"]]


def test_files_of_32_bits(cli, tmp_path):
    """Half the file and the same predictions, without a certificate; the command line makes the same bytes."""
    x, y = sequences(60)
    fitted = ChainSSVM(gap="5%").fit(x, y)
    wide, narrow = tmp_path / "wide", tmp_path / "narrow"
    fitted.save(wide)
    fitted.save(narrow, bits=32)
    assert fitted.coef_.nbytes / 2 <= wide.stat().st_size - narrow.stat().st_size + 100
    found = load(narrow)
    assert all((a == b).all() for a, b in zip(found.predict(x), fitted.predict(x), strict=True))
    assert (found.coef_ == fitted.coef_.astype(np.float32)).all() and found.coef_.dtype == np.float64
    assert not found.certified_ and np.isnan(found.gap_) and fitted.certified_
    run(cli, "compact", wide, "--out", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == narrow.read_bytes()
    found.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == narrow.read_bytes()
    for bits in (16, 33, None, "32", True):
        with pytest.raises(ValueError, match=rf"bits = {bits!r}: must be 32 or 64"):
            fitted.save(tmp_path / "bad", bits=bits)
    assert not (tmp_path / "bad").exists()
