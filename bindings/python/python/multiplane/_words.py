"""Words of scikit-learn and its kin, and what to write here instead."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Collection, Mapping
from typing import Any

_NONE = ""

_HELD_OUT = ("X_val", "y_val", "X_valid", "y_valid", "X_dev", "y_dev", "Y_val", "eval_set", "validation_data")

WORDS: dict[str, tuple[str, str]] = {
    "C": ("lam", 'lam="c:{value}" (lambda = 1/(C n))'),
    "c": ("lam", 'lam="c:{value}" (lambda = 1/(C n))'),
    "alpha": ("lam", "lam={value} (lambda of the objective lambda/2 |w|^2 + mean hinge)"),
    "lambda_": ("lam", "lam={value}"),
    "reg_lambda": ("lam", "lam={value}"),
    "regularization": ("lam", "lam={value}"),
    "c1": ("lam", "lam=..., the strength of the L2 term; there is no L1 term"),
    "c2": ("lam", "lam=..., the strength of lambda/2 |w|^2, the loss being a mean over examples"),
    "penalty": ("lam", "nothing: the penalty is lambda/2 |w|^2, of strength lam"),
    "l1_ratio": ("lam", "nothing: the penalty is lambda/2 |w|^2, of strength lam"),
    "max_iter": ("passes", "passes={value}: oracle calls per example"),
    "n_iter": ("passes", "passes={value}: oracle calls per example"),
    "epochs": ("passes", "passes={value}: oracle calls per example"),
    "n_epochs": ("passes", "passes={value}: oracle calls per example"),
    "max_time": ("seconds", "seconds={value}"),
    "timeout": ("seconds", "seconds={value}"),
    "tol": ("gap", 'gap={value}, an absolute duality gap, or percent of the primal as in gap="1%"'),
    "epsilon": ("gap", 'gap={value}, an absolute duality gap, or percent of the primal as in gap="1%"'),
    "random_state": ("seed", "seed={value}"),
    "verbose": ("progress", "progress=True or False; nothing shows it where somebody watches"),
    "fit_intercept": ("bias", "bias={value}: a feature that is always 1, regularised like the others"),
    "intercept": ("bias", "bias={value}: a feature that is always 1, regularised like the others"),
    "intercept_scaling": ("bias", "bias=True, or a constant column of your own in X"),
    "class_weights": ("class_weight", "class_weight={value}"),
    "class_prior": ("class_weight", "class_weight=..."),
    "sample_weight": (_NONE, "it among the arguments of `fit`, where that takes weights; it is no parameter"),
    "feature_names": (_NONE, "nothing: names are those of a DataFrame's columns, or of dicts"),
    "cost_matrix": ("loss", "loss=[[0, 1], [5, 0]], or costs by name as in loss={{'a': {{'b': 1}}, 'b': {{'a': 5}}}}"),
    "matrix": ("loss", "loss={value}"),
    "algorithm": ("solver", "solver=...: the names in multiplane.solvers"),
    "optimizer": ("solver", "solver=...: the names in multiplane.solvers"),
    "method": ("solver", "solver=...: the names in multiplane.solvers"),
    "dual": ("solver", "nothing: every solver ends with weights, and most with a dual value"),
    "average": ("solver", 'solver="bcfw-avg", or another whose name ends in -avg'),
    "learning_rate": ("solver", "nothing: steps are those of the solver (multiplane.solvers)"),
    "eta0": ("solver", "nothing: steps are those of the solver (multiplane.solvers)"),
    "batch_size": ("solver", "nothing: multiplane.solvers has the parameters of solvers"),
    "early_stopping": ("patience", "patience=5, and test data among the arguments of `fit` (X_test, ...)"),
    "early_stopping_rounds": ("patience", "patience={value}, and test data among the arguments of `fit` (X_test, ...)"),
    "n_iter_no_change": ("patience", "patience={value}, and test data among the arguments of `fit` (X_test, ...)"),
    "validation_fraction": ("holdout", 'holdout="20%", or a number of examples'),
    "validation_split": ("holdout", 'holdout="20%", or a number of examples'),
    **dict.fromkeys(_HELD_OUT, (_NONE, "X_test and y_test (Y_test of a task of your own) among the arguments of `fit`")),
    "multi_class": (_NONE, "nothing: MulticlassSSVM is Crammer-Singer's; BinarySSVM goes into OneVsRestClassifier"),
    "decision_function_shape": (_NONE, "nothing: there is a score for every class"),
    "break_ties": (_NONE, "nothing: of equal scores the first class wins"),
    "probability": (_NONE, "nothing: sklearn.calibration.CalibratedClassifierCV makes probabilities of scores"),
    "cache_size": ("kernel_rows", 'kernel_rows={{"cache_mb": {value}}}'),
    "shrinking": ("solver", "nothing: solvers leave out what is done by themselves"),
    "min_freq": ("min_count", "min_count={value}"),
    "feature_minfreq": ("min_count", "min_count={value}"),
    "max_iterations": ("passes", "passes={value}: oracle calls per example"),
    "delta": ("gap", 'gap={value}, an absolute duality gap, or percent of the primal as in gap="1%"'),
    "period": ("gap", 'gap={value}, an absolute duality gap, or percent of the primal as in gap="1%"'),
    "model_filename": (_NONE, "nothing: save(path) writes the model after fit, and multiplane.load(path) reads it"),
    "keep_tempfiles": (_NONE, "nothing: there are no files; save(path) writes the model after fit"),
    "shuffle": ("seed", "nothing: the order of examples is the solver's, drawn by seed"),
    "num_memories": ("solver", "nothing: multiplane.solvers has the parameters of solvers"),
    "linesearch": ("solver", "nothing: steps are those of the solver (multiplane.solvers)"),
    "max_linesearch": ("solver", "nothing: steps are those of the solver (multiplane.solvers)"),
    "all_possible_states": (_NONE, "nothing: every label has a weight for every feature"),
    "all_possible_transitions": (_NONE, "nothing: all transitions have weights"),
    "inference_cache": ("solver", 'solver=multiplane.solvers.MPBCFW(planes={{"max_idle": 50}})'),
    "inference_method": ("inference", "inference=..."),
    "standardize": ("scale", 'scale="standard"'),
    "normalize": ("scale", 'scale="max-abs" or "standard"'),
    "start": ("ends", "ends=True: weights for the label at the start and at the end"),
    "templates": ("template", "template={value}"),
}
"""For each word the keyword that it is about, if there is one, and what to write; ``{value}`` is what was given."""


_PROBABILITIES = (
    "there are no probabilities: margins(X) says how sure each label is, and decision_function(X) has its score; of rows "
    "sklearn.calibration.CalibratedClassifierCV makes probabilities"
)

ATTRIBUTES: dict[str, str] = {
    "transition_features_": "pair_ has the weights of steps, [from, to] in the order of classes_; top_weights() names the strongest",
    "state_features_": "unary_ has the weights of features, [label, feature]; top_features() names the strongest of each label",
    "attributes_": "get_feature_names_out() has the names of features",
    "num_attributes_": "len(get_feature_names_out()) is the number of features",
    "training_log_": "history_ has a record of every iteration",
    "predict_single": "write predict([x])[0]",
    "predict_marginals": _PROBABILITIES,
    "predict_marginals_single": _PROBABILITIES,
    "predict_proba": _PROBABILITIES,
    "predict_log_proba": _PROBABILITIES,
}
"""Attributes and methods of scikit-learn and its kin that there are not here, and what there is."""


_HOLDOUT = "X_test=... and Y_test=... among the arguments of `fit`: examples of a task of your own are yours to divide"

_IGNORED = "ignore=..., the columns that are left out, by name or number from 1"

READERS: dict[str, str] = {
    **dict.fromkeys(("sep", "delimiter", "delim"), "separator={value}"),
    **dict.fromkeys(("target", "label", "label_col", "target_column", "y_column"), "label_column={value}"),
    **dict.fromkeys(("index_col", "drop", "skip", "skip_columns"), _IGNORED),
    "usecols": _IGNORED,
    "header": "nothing: a first line without numbers names the columns",
    "return_names": "names={value}",
    "feature_names": "names=True",
}
"""Words of pandas and its kin for arguments of :func:`multiplane.load_csv`, and what to write."""


def advice(name: str, known: Collection[str], value: Any = None) -> str:
    """What to write in the place of a parameter that there is not, as the end of a message; empty where nothing is like it."""
    keyword, text = WORDS.get(name, (_NONE, ""))
    if "holdout" in (name, keyword) and "holdout" not in known:
        return f": write {_HOLDOUT}"
    if text and (not keyword or keyword in known):
        return f": write {text.format(value=_shown(value))}"
    if text:
        return f": there is no {keyword} here"
    # A task's parameter by the name that it has among params.
    close = difflib.get_close_matches(name.removeprefix("task."), known, n=1, cutoff=0.75)
    return f": did you mean {close[0]!r}?" if close else ""


def _shown(value: Any) -> str:
    """A value as it is written, or dots in the place of a long one."""
    shown = repr(value)
    return shown if len(shown) <= 40 and value is not ... else "..."


_PATH = {
    "gap": "eps={value}: the gap of every lambda of the path",
    "tol": "eps={value}: the gap of every lambda of the path",
    "lam": "lambda_min=... and lambda_max=..., the range of the path",
    "lambdas": "lambda_min=... and lambda_max=...: the path answers for every lambda between",
    "alphas": "lambda_min=... and lambda_max=...: the path answers for every lambda between",
    "holdout": "cv=5, which cross-validates",
    "patience": "cv=5, which cross-validates",
    "folds": "cv={value}",
    "n_folds": "cv={value}",
}
"""Words for arguments of ``path`` that are none, and what to write."""


def refuse_keywords(given: Mapping[str, Any], estimator: Any, method: str) -> None:
    """Refuses arguments that a method does not have, by the name of the class that the user knows, with what to write."""
    for name, value in given.items():
        text = f"{type(estimator).__name__}.{method}() got an unexpected keyword argument {name!r}"
        raise TypeError(text + _advice_for_call(name, value, estimator, method))


def _advice_for_call(name: str, value: Any, estimator: Any, method: str) -> str:
    arguments = inspect.signature(getattr(type(estimator), method)).parameters
    test = [argument for argument in ("X_test", "y_test", "Y_test") if argument in arguments]
    if name in (*_HELD_OUT, "X_test", "y_test", "Y_test"):
        if not test:
            return ": write cv=5, which cross-validates" if "cv" in arguments else ""
        both = "=... and ".join(test) + "=..."
        return f": write {dict(zip('Xy', test, strict=True)).get(name[0].replace('Y', 'y'), both)}"
    known = estimator._names()
    if method == "path" and name in _PATH:
        return f": write {_PATH[name].format(value=_shown(value))}"
    if name not in known and WORDS.get(name, (_NONE, ""))[0] in known:
        return _advice_for_call(WORDS[name][0], ..., estimator, method)
    if name in known:
        label = "Y" if "Y" in arguments else "y"
        first = "task, " if "task" in known else ""
        return f": it is of the estimator: write {type(estimator).__name__}({first}{name}={_shown(value)}).{method}(X, {label})"
    weights = ["sample_weight"] if "weights" in arguments else []  # of rows it is no name of the signature
    close = difflib.get_close_matches(name, [*arguments, *weights], n=1, cutoff=0.75)
    return f": did you mean {close[0]!r}?" if close else ""


def refuse_reading(given: Mapping[str, Any]) -> None:
    """Refuses arguments that :func:`multiplane.load_csv` does not have."""
    for name, value in given.items():
        text = READERS.get(name, "")
        written = f": write {text.format(value=_shown(value))}" if text else ""
        raise TypeError(f"load_csv() got an unexpected keyword argument {name!r}{written}")
