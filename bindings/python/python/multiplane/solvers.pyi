"""Every solver as a class whose arguments are its parameters. Made by tools/stubs.py; do not edit."""

from typing import Any, Literal

from multiplane._solvers import DEFINITIONS as DEFINITIONS
from multiplane._solvers import Solver as Solver
from multiplane._solvers import class_name as class_name
from multiplane._solvers import made as made

__all__ = [
    "Solver", "Auto", "FW", "BCFW", "BCFWAvg", "MPBCFW", "MPBCFWAvg", "BCFWGap", "BCFWCache", "BCFWGapCache", "BCPFW",
    "BCPFWGap", "BCPFWCache", "BCPFWGapCache", "SSG", "SSGAvg",
]

class Auto(Solver):
    """The default: mp-bcfw with block solves, shrinking, averaging, and recombination where calls are dear.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = True,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class FW(Solver):
    """Batch Frank-Wolfe: n oracle calls, then one step."""

    def __init__(self) -> None: ...

class BCFW(Solver):
    """Block-coordinate Frank-Wolfe: a step after every oracle call.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = False,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class BCFWAvg(Solver):
    """Bcfw with weighted averaging.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = False,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class MPBCFW(Solver):
    """Multi-plane BCFW: keeps oracle answers and reuses them between exact passes.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = False,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class MPBCFWAvg(Solver):
    """Mp-bcfw with weighted averaging.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = False,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class BCFWGap(Solver):
    """Bcfw that draws blocks by their gaps.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = False,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class BCFWCache(Solver):
    """Bcfw (uniform order) that uses cached corners while their gap is large.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = False,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class BCFWGapCache(Solver):
    """Gap order and gap-criterion cache.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = False,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class BCPFW(Solver):
    """Pairwise steps, uniform order.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = False,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class BCPFWGap(Solver):
    """Pairwise steps, gap order.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = False,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class BCPFWCache(Solver):
    """Pairwise steps, gap-criterion cache.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = False,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class BCPFWGapCache(Solver):
    """Pairwise steps, gap order, gap-criterion cache: the authors' recommendation.

    Args:
        averaging: What the answer is: the last iterate or an average.
        gap_check: Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go
            by; 0 for never. Plays no part where nothing goes by gaps.
        gap_check_below: A gap pass is also due when the gaps seen last sum to less than this, but not again before a
            gap pass has measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
        gap_step: What a gap pass does with the corners that it has seen.
        keep_evaluations: Whether planes that an evaluation of bounds finds are kept, where the evaluation does not end
            the run: as calls that the next exact pass need not make. Plays no part with `evaluate=pass`.
        order: Which example is visited next.
        planes: Which planes are kept and how they are used.
        step: How a visit moves an example's plane.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        gap_check: int = 10,
        gap_check_below: float = 0.0,
        gap_step: Literal["none", "batch"] | dict[str, Any] = 'none',
        keep_evaluations: bool = False,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
        planes: Literal["none", "multi-plane", "gap-cache"] | dict[str, Any] = ...,
        step: Literal["frank-wolfe", "pairwise", "away", "best", "solve"] | dict[str, Any] = ...,
    ) -> None: ...

class SSG(Solver):
    """Stochastic subgradient: the baseline without a certificate.

    Args:
        averaging: What the answer is: the last iterate or an average.
        order: Which example is visited next.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
    ) -> None: ...

class SSGAvg(Solver):
    """Ssg with weighted averaging.

    Args:
        averaging: What the answer is: the last iterate or an average.
        order: Which example is visited next.
    """

    def __init__(
        self,
        *,
        averaging: Literal["none", "weighted", "recent"] | dict[str, Any] = ...,
        order: Literal["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] | dict[str, Any] = ...,
    ) -> None: ...
