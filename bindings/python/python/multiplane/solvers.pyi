"""Every solver as a class whose arguments are its parameters. Made by tools/stubs.py; do not edit."""

from typing import Any, Literal

from multiplane._solvers import Solver as Solver

__all__ = [
    "Solver", "Auto", "FW", "BCFW", "BCFWAvg", "MPBCFW", "MPBCFWAvg", "BCFWGap", "BCFWCache", "BCFWGapCache", "BCPFW",
    "BCPFWGap", "BCPFWCache", "BCPFWGapCache", "OneSlack", "NSlack", "Bundle", "DivMBest", "SampledCuts", "BCPL", "PL",
    "OEG", "EG", "LASVM", "SFD1", "SFD2", "SSG", "SSGAvg", "Pegasos", "PegasosAvg",
]

_Averaging = Literal["none", "weighted", "recent"] | dict[str, Any]
_GapStep = Literal["none", "batch"] | dict[str, Any]
_Order = Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any]
_Planes = Literal["none", "multi-plane", "gap-cache"] | dict[str, Any]
_Step = Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any]
_Solutions = Literal["map", "diverse", "m-best", "rand"] | dict[str, Any]
_Length = Literal["line-search", "full"] | dict[str, Any]
_Rate = Literal["fixed", "halving"] | dict[str, Any]
_Start = Literal["uniform", "truth"] | dict[str, Any]
_Inner = Literal["one-slack", "mp-bcfw"] | dict[str, Any]
_Margins = Literal["capped", "clamped", "exact"] | dict[str, Any]
_Sampling = Literal["uniform", "sequential", "importance", "active"] | dict[str, Any]
_Schedule = Literal["constant", "linear", "power", "geometric"] | dict[str, Any]

class _AsBCFW(Solver):
    def __init__(
        self, *, averaging: _Averaging = ..., gap_check: int = 10, gap_check_below: float = 0.0,
        gap_step: _GapStep = 'none', keep_evaluations: bool = False, order: _Order = ..., planes: _Planes = ...,
        step: _Step = ...,
    ) -> None: ...

class _AsOneSlack(Solver):
    def __init__(
        self, *, cache: dict[str, Any] = ..., inward: float = 0.0, master: dict[str, Any] = ...,
        solutions: _Solutions = ...,
    ) -> None: ...

class _AsSFD1(Solver):
    def __init__(
        self, *, accuracy: float = 0.01,
        averaging: Literal["none", "weighted", "polynomial", "thesis"] | dict[str, Any] = ..., inner: _Inner = ...,
        margins: _Margins = 'capped', sampling: _Sampling = ..., schedule: _Schedule = ..., size: float = 0.01,
    ) -> None: ...

class _AsSSG(Solver):
    def __init__(
        self, *, averaging: Literal["none", "weighted", "polynomial", "thesis"] | dict[str, Any] = ...,
        order: _Order = ..., size: float = 1.0,
    ) -> None: ...

class _AsPegasos(Solver):
    def __init__(
        self, *, averaging: Literal["none", "weighted", "polynomial", "thesis"] | dict[str, Any] = ...,
        order: _Order = ..., size: float = 0.01,
    ) -> None: ...

class Auto(Solver):
    """The default: remembers every answer of the oracle and learns from it again and again, so that few calls suffice.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches
            use; 0 for never. Has no effect if neither order nor cache uses gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Keeps the planes of an evaluation of bounds that does not end the run; the next exact pass
            saves these calls. Has no effect with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self, *, averaging: _Averaging = ..., gap_check: int = 10, gap_check_below: float = 0.0,
        gap_step: _GapStep = 'none', keep_evaluations: bool = True, order: _Order = ..., planes: _Planes = ...,
        step: _Step = ...,
    ) -> None: ...

class FW(Solver):
    """Batch Frank-Wolfe: n oracle calls, then one step."""

    def __init__(self) -> None: ...

class BCFW(_AsBCFW):
    """Block-coordinate Frank-Wolfe: a step after every oracle call. The parameters are those of :class:`Auto`."""

class BCFWAvg(_AsBCFW):
    """Bcfw with weighted averaging. The parameters are those of :class:`Auto`."""

class MPBCFW(_AsBCFW):
    """Multi-plane BCFW: keeps oracle answers and reuses them between exact passes. The parameters are those of
    :class:`Auto`."""

class MPBCFWAvg(_AsBCFW):
    """Mp-bcfw with weighted averaging. The parameters are those of :class:`Auto`."""

class BCFWGap(_AsBCFW):
    """Bcfw that draws blocks by their gaps. The parameters are those of :class:`Auto`."""

class BCFWCache(_AsBCFW):
    """Bcfw (uniform order) that uses cached corners while their gap is large. The parameters are those of
    :class:`Auto`."""

class BCFWGapCache(_AsBCFW):
    """Gap order and gap-criterion cache. The parameters are those of :class:`Auto`."""

class BCPFW(_AsBCFW):
    """Pairwise steps, uniform order. The parameters are those of :class:`Auto`."""

class BCPFWGap(_AsBCFW):
    """Pairwise steps, gap order. The parameters are those of :class:`Auto`."""

class BCPFWCache(_AsBCFW):
    """Pairwise steps, gap-criterion cache. The parameters are those of :class:`Auto`."""

class BCPFWGapCache(_AsBCFW):
    """Pairwise steps, gap order, gap-criterion cache: the authors' recommendation. The parameters are those of
    :class:`Auto`."""

class OneSlack(_AsOneSlack):
    """1-slack cutting planes: a plane of the sum of all hinges per pass, which is its own certificate.

    Args:
        cache: Planes of every example from which cutting planes are made between passes.
        inward: How far the weights of a pass are drawn from the master's solution toward the best ones so far, below 1:
            0 makes it at the solution itself.
        master: The master problem.
        solutions: The labellings of every example that a pass asks for: each further one gives a further plane.
    """

class NSlack(Solver):
    """N-slack cutting planes: a plane of every example per pass, then a QP over all of them.

    Args:
        master: The master problem.
        violation: An answer is kept where it exceeds the planes kept of its example by more than this share of the mean
            gap of the last pass.
    """

    def __init__(
        self, *, master: dict[str, Any] = ..., violation: float = 0.0,
    ) -> None: ...

class Bundle(Solver):
    """One-slack with passes between the master's solution and the best weights so far. The parameters are those of
    :class:`OneSlack`."""

    def __init__(
        self, *, cache: dict[str, Any] = ..., inward: float = 0.5, master: dict[str, Any] = ...,
        solutions: _Solutions = ...,
    ) -> None: ...

class DivMBest(_AsOneSlack):
    """One-slack with several diverse labellings of every example in a pass, a plane from each. The parameters are those
    of :class:`OneSlack`."""

class SampledCuts(Solver):
    """One-slack with planes estimated from a sample of the examples; without a certificate.

    Args:
        master: The master problem.
        size: Examples with a hinge above 0 that a cutting plane is estimated from (r), at least 2: a whole number, or
            below 1 a share of all. Where there are no more, the plane is exact.
        violation: The run ends where the estimated plane cuts off no more than this of P (the papers' epsilon); 0 never
            ends it.
    """

    def __init__(
        self, *, master: dict[str, Any] = ..., size: float = 1000.0, violation: float = 0.0,
    ) -> None: ...

class BCPL(Solver):
    """Block-coordinate partial linearisation: steps toward what is expected under a Gibbs distribution.

    Args:
        batch: Whether all blocks step at one w, by one length; else one after the other.
        length: How far a step goes: `line-search` or `full`.
        order: Which block is next, where they step one after the other.
        rate: Whether the rate 1/tau of full steps is `fixed` or `halving`.
        start: Where the distributions begin: `uniform` or `truth`.
        tau: Temperature, in units of the loss: labellings that score lower by this count less by a factor e. Near 0
            steps are those of Frank-Wolfe.
    """

    def __init__(
        self, *, batch: bool = False, length: _Length = 'line-search', order: _Order = ..., rate: _Rate = 'fixed',
        start: _Start = 'truth', tau: float = 0.01,
    ) -> None: ...

class PL(Solver):
    """Batch partial linearisation: n distributions at one w, then one step. The parameters are those of
    :class:`BCPL`."""

    def __init__(
        self, *, batch: bool = True, length: _Length = 'line-search', order: _Order = ..., rate: _Rate = 'fixed',
        start: _Start = 'truth', tau: float = 0.01,
    ) -> None: ...

class OEG(Solver):
    """Online exponentiated gradient: bcpl with full steps, at rates that are halved until F rises. The parameters are
    those of :class:`BCPL`."""

    def __init__(
        self, *, batch: bool = False, length: _Length = 'full', order: _Order = ..., rate: _Rate = 'halving',
        start: _Start = 'truth', tau: float = 0.01,
    ) -> None: ...

class EG(Solver):
    """Batch exponentiated gradient: pl with full steps, at a rate that is halved until F rises. The parameters are
    those of :class:`BCPL`."""

    def __init__(
        self, *, batch: bool = True, length: _Length = 'full', order: _Order = ..., rate: _Rate = 'halving',
        start: _Start = 'truth', tau: float = 0.01,
    ) -> None: ...

class LASVM(Solver):
    """LaSVM: online dual ascent over examples that violate most, and again over those that carry weight.

    Args:
        candidates: Examples that are asked about before each PROCESS step, drawn among those that the epoch has not
            processed yet; the one that violates most is processed. A call each. 1 is a random order.
        finish: Whether epochs end with REPROCESS steps until no example with weight violates by more than `tau`.
        reprocess: REPROCESS steps after each PROCESS step that moved.
        tau: Violations up to this are none, in units of the loss (tau). Halved after an epoch in which no example that
            was processed violated by more.
    """

    def __init__(
        self, *, candidates: int = 50, finish: bool = True, reprocess: int = 1, tau: float = 0.001,
    ) -> None: ...

class SFD1(_AsSFD1):
    """Stochastic functional descent, lambda_t = 1/k: online, without lambda and without a certificate.

    Args:
        accuracy: A step is solved to this gap, in units of the loss: that of the mean hinge of its examples.
        averaging: What the answer is: the last w_t or an average of them, which takes out what single samples do.
        inner: What solves a step.
        margins: What becomes of residual margins outside of what losses can be: `clamped`, `capped` or `exact`.
        sampling: Which examples a step is about.
        schedule: How strongly the t-th step is regularised (lambda_t), t from 1.
        size: Examples of a step (k): a whole number, or below 1 a share of all, at least one. A pass is n examples
            drawn; each costs a call for every cutting plane of its step.
    """

class SFD2(_AsSFD1):
    """Sfd1 with lambda_t = t/n. The parameters are those of :class:`SFD1`."""

class SSG(_AsSSG):
    """Stochastic subgradient: the baseline without a certificate.

    Args:
        averaging: What the answer is: the last iterate or an average.
        order: Which example is visited next.
        size: Examples of a step (k): a whole number, or below 1 a share of all, at least one.
    """

class SSGAvg(_AsSSG):
    """Ssg with weighted averaging. The parameters are those of :class:`SSG`."""

class Pegasos(_AsPegasos):
    """Ssg with steps of 1 % of the examples. The parameters are those of :class:`SSG`."""

class PegasosAvg(_AsPegasos):
    """Pegasos with an average that forgets polynomially. The parameters are those of :class:`SSG`."""
