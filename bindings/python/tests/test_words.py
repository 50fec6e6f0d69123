"""Parameters of tasks as keywords, the words of scikit-learn, weights and costs by the names of labels."""

import inspect
import warnings

import numpy as np
import pytest
from conftest import blobs, sequences
from problems import Multiclass
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight

import multiplane
from multiplane import (
    ArborescenceSSVM,
    BinarySSVM,
    ChainSSVM,
    GraphSSVM,
    MrfSSVM,
    MulticlassSSVM,
    MultiLabelSSVM,
    StructuredSVM,
    TreeSSVM,
    solvers,
)
from multiplane._base import Estimator
from multiplane._given import task_names
from multiplane._solvers import DEFINITIONS
from multiplane._words import WORDS, advice

BUILT_IN = [
    ArborescenceSSVM, BinarySSVM, ChainSSVM, GraphSSVM, MrfSSVM, MulticlassSSVM, MultiLabelSSVM, TreeSSVM,
]  # fmt: skip
ELSEWHERE = {"kernel": "kernel", "structure": "which estimator it is"}
"""Parameters of tasks that are not keywords under `task_names`."""

DEFAULTS = {"class_weight": None, "label_weights": None, "template": None, "kernel_rows": None, "distances": None}
"""Keywords whose default is not that of the core: nothing is handed over then."""


def same(x, y, a, b):
    """Whether two estimators have the same weights."""
    return np.array_equal(a.fit(x, y).coef_, b.fit(x, y).coef_)


# -- keywords --


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.__name__)
def test_every_parameter_of_the_task_is_a_keyword(kind):
    """None of the core is missing, defaults are the core's, help documents all, get_params has them."""
    entry = next(entry for entry in DEFINITIONS["tasks"] if entry["name"] == kind._task)
    names, arguments = task_names(kind), inspect.signature(kind).parameters
    core = {param["name"]: param["default"] for param in entry["params"]}
    unused = {"class_weights", "partial"} if kind is ArborescenceSSVM else set()  # its labels are heads, known as a whole
    found = {name.split(".")[0] for name in names.values()} | (set(ELSEWHERE) - {"structure"} if "kernel" in arguments else set())
    assert set(core) - found - {"structure"} == unused
    assert kind is ArborescenceSSVM or not found & {"structure"}
    for keyword, name in names.items():
        if "." in name or keyword in DEFAULTS:
            continue
        default = core[name]["name"] if isinstance(core[name], dict) else core[name]
        assert arguments[keyword].default == default, keyword
    assert set(kind().get_params()) == set(arguments)
    for keyword in arguments:
        assert f"\n        {keyword}: " in kind.__doc__, keyword


@pytest.mark.parametrize("kind", [*BUILT_IN, StructuredSVM], ids=lambda kind: kind.__name__)
def test_common_parameters_are_the_same_everywhere(kind):
    """All estimators have them, keywords only, with one default."""
    found = inspect.signature(kind).parameters
    for name, argument in inspect.signature(Estimator).parameters.items():
        assert found[name].default == argument.default and found[name].kind == argument.kind, name
    assert "rescaling" in found
    assert set(inspect.signature(kind.__init__).parameters) - {"self"} == set(found)


def test_keywords_are_the_parameters():
    """A keyword gives the weights that the dotted name gives, for every way of saying it."""
    x, y = blobs()
    xs, ys = sequences()
    work = {"clock": "work", "gap": "2%", "lam": 0.05}
    cases = [
        (MulticlassSSVM, x, y, {"bias": True}, {"task.bias": True}),
        (MulticlassSSVM, x, y, {"scale": "max-abs"}, {"task.scale": "max-abs"}),
        (MulticlassSSVM, x, y, {"rescaling": "slack", "loss": "hamming-sum"}, {"task.rescaling": "slack", "task.loss": "hamming-sum"}),
        (ChainSSVM, xs, ys, {"ends": True, "bias": True}, {"task.ends": True, "task.bias": True}),
        (ChainSSVM, xs, ys, {"class_weight": [1, 2, 3]}, {"task.class_weights": [1, 2, 3]}),
    ]
    plain = {kind: kind(**work).fit(*data).coef_ for kind, data in ((MulticlassSSVM, (x, y)), (ChainSSVM, (xs, ys)))}
    for kind, rows, labels, keywords, params in cases:
        assert same(rows, labels, kind(**keywords, **work), kind(params=params, **work)), keywords
        mine = kind(**keywords, **work).fit(rows, labels).coef_
        assert mine.shape != plain[kind].shape or not np.array_equal(mine, plain[kind]), keywords


def test_what_is_given_twice_is_refused():
    """As a keyword and among params, with whatever value."""
    x, y = blobs()
    for keywords, params, told in [
        ({"bias": True}, {"task.bias": True}, r"bias = True and params\['task.bias'\]: give one of them"),
        ({"loss": "hamming-sum"}, {"task.loss": "hamming"}, r"loss = 'hamming-sum' and params\['task.loss'\]"),
        ({"loss": [[0, 1, 1]] * 3}, {"task.loss.matrix": [[0]]}, r"and params\['task.loss.matrix'\]"),
        ({"class_weight": {0: 2}}, {"task.class_weights": [1, 1, 1]}, r"class_weight = \{0: 2\} and params"),
        ({"kernel": "rbf", "kernel_rows": {"cache_mb": 5}}, {"task.kernel_rows.cache_mb": 6}, "kernel_rows = "),
    ]:
        with pytest.raises(ValueError, match=told):
            MulticlassSSVM(**keywords, params=params).fit(x, y)


def test_searches_over_parameters_of_the_task():
    """GridSearchCV takes them, and those of the solver where it is just a name."""
    x, y = blobs(3, n=60)
    search = GridSearchCV(MulticlassSSVM(gap="5%"), {"bias": [False, True], "class_weight": [None, "balanced"]}, cv=3).fit(x, y)
    assert set(search.best_params_) == {"bias", "class_weight"}
    search = GridSearchCV(MulticlassSSVM(gap="5%"), {"solver__step": ["frank-wolfe", "solve"]}, cv=3).fit(x, y)
    assert search.best_estimator_.solver == solvers.Auto(step=search.best_params_["solver__step"])
    model = MulticlassSSVM(solver="mp-bcfw").set_params(solver__order="gap")
    assert model.solver == solvers.MPBCFW(order="gap")
    assert model.set_params(solver="bcfw", solver__order="uniform").solver == solvers.BCFW(order="uniform")
    with pytest.raises(TypeError, match="no parameter 'ordr'"):
        model.set_params(solver__ordr="gap")
    with pytest.raises(ValueError, match="Invalid parameter 'solver__x'|solver__x"):
        MulticlassSSVM(solver="no such").set_params(solver__x=1)


# -- words --


@pytest.mark.parametrize("kind", [BinarySSVM, MulticlassSSVM, ChainSSVM, MultiLabelSSVM], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"C": 10}, 'write lam="c:10"'),
        ({"alpha": 0.1}, "write lam=0.1"),
        ({"max_iter": 100}, "write passes=100"),
        ({"tol": 1e-3}, "write gap=0.001"),
        ({"random_state": 3}, "write seed=3"),
        ({"verbose": 1}, "write progress=True or False"),
        ({"fit_intercept": True}, "write bias=True"),
        ({"penalty": "l1"}, r"write nothing: the penalty is lambda/2 \|w\|\^2"),
        ({"lamb": 1}, "did you mean 'lam'"),
        ({"nonsense_of_mine": 1}, "$"),
    ],
    ids=str,
)
def test_words_of_scikit_learn_are_told(kind, given, told):
    """The TypeError says what to write, and so does set_params."""
    with pytest.raises(TypeError, match=f"{kind.__name__}\\(\\) got an unexpected keyword argument '{next(iter(given))}'(: .*)?{told}"):
        kind(**given)
    with pytest.raises(ValueError, match=f"Invalid parameter '{next(iter(given))}' for estimator"):
        kind().set_params(**given)


def test_advice_names_what_there_is():
    """Every keyword of the table is one of some estimator, no word is one, and what is said can be formatted."""
    everywhere = {name for kind in [*BUILT_IN, StructuredSVM] for name in inspect.signature(kind).parameters}
    assert len(WORDS) == 14
    for word, (keyword, text) in WORDS.items():
        assert keyword in everywhere and word not in everywhere, word
        assert "{" not in text.format(value="1"), word
    assert advice("fit_intercept", ["lam"], True) == ": there is no bias here"
    assert advice("task.bias", ["bias"]) == ": did you mean 'bias'?"
    with pytest.raises(TypeError, match="there is no bias here"):
        GraphSSVM(fit_intercept=True)


@pytest.mark.parametrize(
    ("method", "given", "told"),
    [
        ("fit", {"passes": 3}, r"it is of the estimator: write {name}\(passes=3\)\.fit\(X, y\)"),
        ("fit", {"max_iter": 3}, r"it is of the estimator: write {name}\(passes=\.\.\.\)\.fit\(X, y\)"),
        ("fit", {"Y_test": 1}, "did you mean 'y_test'"),
        ("fit", {"sample_weights": 1}, "did you mean 'sample_weight'"),
        ("path", {"passes": 3}, r"it is of the estimator: write {name}\(passes=3\)\.path\(X, y\)"),
        ("path", {"gap": 0.1}, "write eps=0.1"),
        ("path", {"C": 1}, r"write lambda_min=\.\.\. and lambda_max=\.\.\."),
        ("path", {"nonsense_of_mine": 1}, "$"),
        ("check", {"gap": 0.1}, r"it is of the estimator: write {name}\(gap=0.1\)\.check\(X, y\)"),
        ("check", {"second": 1}, "did you mean 'seconds'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [MulticlassSSVM, ChainSSVM, MultiLabelSSVM, GraphSSVM], ids=lambda kind: kind.__name__)
def test_words_among_the_arguments_of_methods(kind, method, given, told):
    """The TypeError has the name of the user's class, and what to write."""
    start = rf"^{kind.__name__}\.{method}\(\) got an unexpected keyword argument '{next(iter(given))}'(: )?"
    with pytest.raises(TypeError, match=start + told.replace("{name}", kind.__name__)):
        getattr(kind(), method)([], [], **given)


def test_words_among_the_arguments_of_tasks_of_your_own():
    """Test data are Y_test there, and nothing is held out."""
    model = StructuredSVM(object())
    for method, given, told in [
        ("fit", {"y_test": 1}, "did you mean 'Y_test'\\?$"),
        ("fit", {"passes": 3}, r"write StructuredSVM\(task, passes=3\)\.fit\(X, Y\)$"),
    ]:
        with pytest.raises(TypeError, match=rf"^StructuredSVM\.{method}\(\) got an unexpected keyword argument .*{told}"):
            getattr(model, method)([], [], **given)
    for word in ("holdout", "validation_fraction"):
        with pytest.raises(TypeError, match=rf"'{word}': write X_test=\.\.\. and Y_test=\.\.\. among the arguments of `fit`"):
            StructuredSVM(object(), **{word: 0.2})


def test_words_of_readers_of_tables():
    """What pandas calls otherwise."""
    for given, told in [({"sep": ";"}, "did you mean 'separator'"), ({"label_col": "y"}, "did you mean 'label_column'"), ({"foo": 1}, "'foo'$")]:
        with pytest.raises(TypeError, match=rf"^load_csv\(\) got an unexpected keyword argument .*{told}"):
            multiplane.load_csv("no.csv", **given)


def test_probabilities_say_what_there_is():
    """They are not there for hasattr, and the error says what is."""
    model = ChainSSVM(gap="5%").fit(*sequences())
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="'ChainSSVM' object has no attribute 'predict_proba': calibrate\\(X, y\\) on examples"):
        _ = model.predict_proba


def test_parameters_below_those_of_a_solver():
    """solver__planes__max_idle sets one and leaves its neighbours; searches go over it."""
    x, y = blobs(2)
    model = BinarySSVM(solver=solvers.MPBCFW(planes={"max_idle": 5, "max_planes": 7}), gap="5%")
    assert clone(model).set_params(solver__planes__max_idle=2).solver.params == {"planes": {"max_idle": 2, "max_planes": 7}}
    named = BinarySSVM(solver="mp-bcfw").set_params(solver__order__name="shrinking", solver__order__aging=3.0)
    assert named.solver.params == {"order": {"name": "shrinking", "aging": 3.0}}
    bare = BinarySSVM(solver=solvers.MPBCFW(order="shrinking")).set_params(solver__order__aging=3.0)
    assert bare.solver == named.solver and bare.fit(x, y).certified_
    search = GridSearchCV(BinarySSVM(gap="5%"), {"solver__planes__max_idle": [2, 9]}, cv=3).fit(x, y)
    assert search.best_params_["solver__planes__max_idle"] in (2, 9) and model.solver.params["planes"]["max_idle"] == 5
    with pytest.raises(TypeError, match="no parameter 'plans'"):
        BinarySSVM().set_params(solver__plans__max_idle=2)
    with pytest.raises(ValueError, match="max_idel"):
        BinarySSVM().set_params(solver__planes__max_idel=2).fit(x, y)


def test_subclasses_have_their_own_words():
    """A class that takes anything is let be; one with arguments of its own is held to them."""

    class Any(MulticlassSSVM):
        def __init__(self, **given):
            super().__init__(**{key: value for key, value in given.items() if key != "C"})

    class Few(MulticlassSSVM):
        def __init__(self, lam=0.1):
            super().__init__(lam=lam)

    assert Any(C=3, lam=0.5).lam == 0.5
    assert list(inspect.signature(Few).parameters) == ["lam"] and Few(0.2).lam == 0.2
    assert list(inspect.signature(MulticlassSSVM).parameters) != ["lam"]
    with pytest.raises(TypeError, match=r"Few\(\) got an unexpected keyword argument 'gap'"):
        Few(gap=1)


# -- weights and costs by label --


NAMED = np.array(["low", "middle", "high"])


def test_class_weights_by_name():
    """Dicts, Series, "balanced" and lists say the same; labels left out have 1."""
    x, y = blobs(3, n=90)
    y = NAMED[np.where(np.arange(90) < 20, 0, y)]  # not all alike often; in order: high, low, middle
    work = {"clock": "work", "gap": "2%", "lam": 0.05}
    listed = MulticlassSSVM(class_weight=[1.0, 5.0, 0.5], **work).fit(x, y)
    assert listed.classes_.tolist() == ["high", "low", "middle"]
    pandas = pytest.importorskip("pandas")
    for given in ({"low": 5.0, "middle": 0.5}, pandas.Series({"middle": 0.5, "low": 5.0, "high": 1.0})):
        assert np.array_equal(MulticlassSSVM(class_weight=given, **work).fit(x, y).coef_, listed.coef_)
    counts = np.array([(y == name).sum() for name in listed.classes_])
    balanced = MulticlassSSVM(class_weight="balanced", **work).fit(x, y)
    by_hand = MulticlassSSVM(class_weight=(90 / (3 * counts)).tolist(), **work).fit(x, y)
    assert np.array_equal(balanced.coef_, by_hand.coef_)
    assert not np.array_equal(balanced.coef_, MulticlassSSVM(**work).fit(x, y).coef_)
    numbers = np.where(y == "low", 7, np.where(y == "high", -2, 30))
    two = MulticlassSSVM(class_weight={7: 5.0, 30: 0.5}, **work).fit(x, numbers)
    assert np.array_equal(two.coef_, MulticlassSSVM(class_weight=[1.0, 5.0, 0.5], **work).fit(x, numbers).coef_)
    binary = y == "low"
    one = BinarySSVM(class_weight={True: 3}, **work).fit(x, binary)
    assert np.array_equal(one.coef_, BinarySSVM(class_weight=[1, 3], **work).fit(x, binary).coef_)


@pytest.mark.parametrize("names", [["b", "a", "C"], [10, 9, -2], ["10", "9", "x"]], ids=str)
def test_class_weights_of_sequences(names):
    """The order is the core's, for names, numbers, and names that look like numbers; tokens are counted."""
    x, y = sequences()
    y = [[names[label] for label in labels] for labels in y]
    work = {"clock": "work", "gap": "2%", "lam": 0.05}
    model = ChainSSVM(class_weight={names[0]: 4, names[2]: 0.25}, **work).fit(x, y)
    factors = {str(names[0]): 4, str(names[1]): 1, str(names[2]): 0.25}
    listed = [factors[str(label)] for label in model.classes_]
    assert np.array_equal(model.coef_, ChainSSVM(class_weight=listed, **work).fit(x, y).coef_)
    tokens = [label for labels in y for label in labels]
    by_hand = [len(tokens) / (3 * tokens.count(next(n for n in names if str(n) == str(label)))) for label in model.classes_]
    assert np.array_equal(
        ChainSSVM(class_weight="balanced", **work).fit(x, y).coef_, ChainSSVM(class_weight=by_hand, **work).fit(x, y).coef_
    )


def test_faults_of_class_weights_are_named():
    """Unknown labels, other words, streams and containers that cannot be counted."""
    x, y = blobs()
    for given, told in [
        ({"low": 3}, "class_weight names 'low', which is no label: these are 0, 1, 2"),
        ("balance", "class_weight = 'balance': expected 'balanced', a dict by label or a list"),
        ({0: "much"}, "^class_weight = "),
        ([1, 2], "^class_weight has 2 entries, expected one for each of 3"),
        ({0: 1.0, "0": 2.0}, "class_weight names '0' twice"),
    ]:
        with pytest.raises(ValueError, match=told):
            MulticlassSSVM(class_weight=given).fit(x, y)
    every = {0: 1.0, 1: 2.0, 2: 3.0, 9: 4.0}  # a part of the data lacks 9
    MulticlassSSVM(class_weight=every, gap="5%").fit(x, y)
    with pytest.raises(ValueError, match="class_weight: factors by name and `balanced` need the training data as a whole"):
        MulticlassSSVM(class_weight="balanced").partial_fit(x, y, classes=[0, 1, 2])
    stream = MulticlassSSVM(class_weight={0: 3.0}).partial_fit(x, y, classes=[0, 1, 2])
    listed = MulticlassSSVM(class_weight=[3.0, 1.0, 1.0]).partial_fit(x, y, classes=[0, 1, 2])
    assert np.array_equal(stream.coef_, listed.coef_)


def test_class_weights_with_slack_are_scikit_learns():
    """With slack rescaling a row of a class counts as often as its weight says, as in LinearSVC and by ``sample_weight``; with margins more
    is asked of it, which is another thing."""
    x, y = blobs(2, n=120)
    y[np.arange(120) % 5 != 1] = 0  # few are 1
    weight, slack = {0: 0.5, 1: 4.0}, {"rescaling": "slack", "lam": 0.02, "gap": 1e-9}
    theirs = LinearSVC(loss="hinge", C=1 / (0.02 * 120), class_weight=weight, fit_intercept=False, tol=1e-8, max_iter=1000000).fit(x, y)
    ours = BinarySSVM(class_weight=weight, **slack).fit(x, y)
    assert ours.certified_ and np.allclose(ours.coef_, theirs.coef_, atol=1e-4)
    rows = MulticlassSSVM(class_weight="balanced", **slack).fit(x, y)
    counted = MulticlassSSVM(lam=0.02, gap=1e-9).fit(x, y, sample_weight=compute_sample_weight("balanced", y))
    assert np.allclose(rows.coef_, counted.coef_, atol=1e-4)
    margins = MulticlassSSVM(class_weight="balanced", lam=0.02, gap=1e-9).fit(x, y)
    assert not np.allclose(margins.coef_, counted.coef_, atol=0.1)


COSTS = {"low": {"middle": 1, "high": 7}, "middle": {"low": 2, "high": 2}, "high": {"low": 9, "middle": 1, "high": 0}}


def test_costs_by_name():
    """Dicts of dicts, data frames, functions and matrices are one loss, whatever the order that they are in."""
    x, y = blobs(3, n=60)
    y = NAMED[y]
    work = {"clock": "work", "gap": "2%", "lam": 0.05}
    matrix = [[0, 9, 1], [7, 0, 1], [2, 2, 0]]  # high, low, middle
    expected = MulticlassSSVM(loss=matrix, **work).fit(x, y)
    params = {"task.loss": "cost-matrix", "task.loss.matrix": matrix}
    assert np.array_equal(expected.coef_, MulticlassSSVM(params=params, **work).fit(x, y).coef_)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COSTS).T  # rows are true labels; in another order than the labels
    asked = []

    def cost(truth, label):
        asked.append((truth, label))
        return COSTS[truth][label]

    for given in (COSTS, frame, cost, np.array(matrix)):
        model = clone(MulticlassSSVM(loss=given, **work))
        assert np.array_equal(model.fit(x, y).coef_, expected.coef_)
    assert len(set(asked)) == 6 and all(isinstance(truth, str) for truth, _ in asked)
    xs, ys = sequences()
    named = [NAMED[labels] for labels in ys]
    chain = ChainSSVM(loss=COSTS, **work).fit(xs, named)
    assert np.array_equal(chain.coef_, ChainSSVM(loss=matrix, **work).fit(xs, named).coef_)


def test_faults_of_losses_are_named():
    """What is missing, what is no number, and what an estimator does not take."""
    x, y = blobs()
    for given, told in [
        ({0: {1: 1, 2: 1}, 1: {0: 1, 2: 1}}, "loss: the row of the true label 2 is missing"),
        ({0: {1: 1}, 1: {0: 1, 2: 1}, 2: {0: 1, 1: 1}}, "loss: there is no cost of 2 where 0 is true"),
        ({0: {1: 1, 2: "x"}, 1: {0: 1, 2: 1}, 2: {0: 1, 1: 1}}, "x"),
        ({0: 1, 1: 2, 2: 3}, "loss: the row of the true label 0 is 1: expected a dict"),
        (lambda truth, label: None, "the cost of 1 where 0 is true is None: expected a number"),
        (lambda truth, label: -1, r"^loss\.matrix\[0\]\[1\] = -1"),
        ("haming", "unknown loss `haming`: did you mean"),
        ([[0, 1], [1, 0]], "matrix"),
    ]:
        with pytest.raises(ValueError, match=told):
            MulticlassSSVM(loss=given).fit(x, y)
    with pytest.raises(ValueError, match="loss"):
        GraphSSVM(loss=lambda a, b: 1).fit([(np.eye(2), [[0, 1]])], [[0, 1]])


def test_keywords_come_back_from_files(tmp_path):
    """As keywords, so that the loaded estimator can be fitted again to the same bits."""
    x, y = blobs()
    xs, ys = sequences()
    for model, data in [
        (MulticlassSSVM(bias=True, loss=[[0, 1, 2], [1, 0, 1], [3, 1, 0]], class_weight={0: 2.0}, clock="work"), (x, y)),
        (ChainSSVM(ends=True, class_weight="balanced", loss="hamming-sum", clock="work", gap="5%"), (xs, ys)),
        (MultiLabelSSVM(pairwise=[[0, 1]], clock="work", gap="5%"), (x, np.eye(3, dtype=int)[y])),
        (ArborescenceSSVM(root="any", distances=[1, 4], gap="5%", clock="work"), ([np.eye(3)] * 2, [[-1, 0, 1]] * 2)),
    ]:
        model.fit(*data).save(tmp_path / "m")
        loaded = multiplane.load(tmp_path / "m")
        assert loaded.params is None, loaded
        for name in ("bias", "ends", "root", "pairwise", "distances"):
            assert getattr(loaded, name, None) == getattr(model, name, None), name
        assert np.array_equal(clone(loaded).fit(*data).coef_, model.coef_)


def test_label_weights_and_pairs_by_column():
    """MultiLabelSSVM: dicts by column, and pairs without more words."""
    x, y = blobs()
    sets = np.eye(3, dtype=int)[y]
    work = {"clock": "work", "gap": "5%"}
    listed = MultiLabelSSVM(label_weights=[1.0, 4.0, 1.0], pairwise="none", **work)
    assert same(x, sets, listed, MultiLabelSSVM(label_weights={1: 4.0}, pairwise="none", **work))
    named = MultiLabelSSVM(params={"task.pairwise": "edges", "task.pairwise.edges": [[0, 2]]}, **work)
    assert same(x, sets, MultiLabelSSVM(pairwise=[(0, 2)], **work), named)
    assert same(x, sets, MultiLabelSSVM(loss={0: {1: 5}, 1: {0: 1}}, **work), MultiLabelSSVM(loss=[[0, 5], [1, 0]], **work))
    with pytest.raises(ValueError, match="label_weights names 5, which is no column of y: it has 3"):
        MultiLabelSSVM(label_weights={5: 2.0}).fit(x, sets)


def test_users_tasks_have_test_data(quiet):
    """fit(X_test, Y_test): losses in history_ and summary_, which change nothing."""
    x, y = blobs()
    x, y = list(x), y.tolist()
    work = {"clock": "work", "gap": "5%"}
    model = StructuredSVM(Multiclass(), **work).fit(x[:60], y[:60], X_test=x[60:], Y_test=y[60:])
    plain = StructuredSVM(Multiclass(), **work).fit(x[:60], y[:60])
    assert np.array_equal(model.coef_, plain.coef_)
    assert model.summary_["test_loss"] == pytest.approx(1 - model.score(x[60:], y[60:]))
    assert model.summary_["train_loss"] == pytest.approx(1 - model.score(x[:60], y[:60]))
    assert all(record["test_loss"] is not None for record in model.history_)
    with pytest.raises(ValueError, match="X_test has 3 examples, Y_test has 2"):
        StructuredSVM(Multiclass()).fit(x, y, X_test=x[:3], Y_test=y[:2])
    with pytest.raises(ValueError, match="^X_test without Y_test: give both"):
        StructuredSVM(Multiclass()).fit(x, y, X_test=x[:3])


def test_scores_of_nothing_are_refused(quiet):
    """ValueErrors without warnings of NumPy."""
    x, y = blobs()
    xs, ys = sequences()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="Y is empty: there is nothing to measure"):
            StructuredSVM(Multiclass(), passes=2).fit(list(x), y.tolist()).score([], [])
        with pytest.raises(ValueError, match="y is empty: there is nothing to measure"):
            ChainSSVM(gap="5%").fit(xs, ys).score([], [])
        with pytest.raises(ValueError, match="0 sample"):
            MulticlassSSVM(gap="5%").fit(x, y).score(np.zeros((0, 4)), [])
