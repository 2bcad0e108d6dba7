"""Which designs to try next: Optuna's multi-objective tree-structured Parzen estimator, told of all that was tried.

Optuna (Akiba et al., KDD 2019; the estimator for several objectives: Ozaki et al., GECCO 2020) splits the designs
into good ones, near the front, and the rest, and proposes what is likelier among the good. We add three things: the
smallest and the largest design come first, since they span the front; no design is proposed twice, since a run is the
same to the last digit; and what cannot be built, or breaks a bound before it has run, is never run.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

from warpsift.search.search_file import Design, SearchError, SearchSpec
from warpsift.search.tried import Tried

STARTUP = 10  # designs at random before the estimator decides; Optuna's own default
TRIES = 50  # proposals in a row that are known already, before one is drawn at random
DRAWS = 10_000  # at random, before the space counts as empty


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise SearchError("warpsift search needs the package optuna: pip install 'warpsift[search]'") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


class Proposals:
    """Asked for designs and told what came of them. The same seed, asked and told the same, proposes the same."""

    def __init__(self, spec: SearchSpec, seed: int, possible: Callable[[Design], bool] = lambda design: True) -> None:
        self._optuna = _optuna()
        self._spec = spec
        self._possible = possible  # False: it cannot be built, or breaks a bound that is known without a run
        self._random = random.Random(seed)
        self._seen: set[Design] = set()
        self._waiting: dict[Design, Any] = {}  # Optuna's trials that have no result yet
        self._first = [(0,) * len(spec.axes), tuple(len(axis.values) - 1 for axis in spec.axes)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parts of Optuna that we use are marked as experimental
            sampler = self._optuna.samplers.TPESampler(
                seed=seed,
                n_startup_trials=STARTUP,
                multivariate=True,
                constant_liar=True,
                constraints_func=(lambda trial: trial.user_attrs["violations"]) if spec.constraints else None,
            )
        self._study = self._optuna.create_study(directions=["minimize"] * len(spec.objectives), sampler=sampler)
        self._distributions = {axis.name: self._distribution(axis) for axis in spec.axes}

    def _distribution(self, axis: Any) -> Any:
        kinds, last = self._optuna.distributions, len(axis.values) - 1
        return kinds.IntDistribution(0, last) if axis.ordered else kinds.CategoricalDistribution(tuple(range(last + 1)))

    def ask(self, count: int) -> list[Design]:
        """So many new designs; fewer when there are no more."""
        found = []
        for _ in range(count):
            design = self._next()
            if design is None:
                break
            found.append(design)
        return found

    def _next(self) -> Design | None:
        for _ in range(TRIES):
            if self._first:
                self._study.enqueue_trial(self._named(self._first.pop(0)))
            trial = self._study.ask(self._distributions)
            design = tuple(trial.params[axis.name] for axis in self._spec.axes)
            if self._take(design):
                self._waiting[design] = trial
                return design
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        for _ in range(DRAWS):
            design = tuple(self._random.randrange(len(axis.values)) for axis in self._spec.axes)
            if self._take(design):
                return design
        if self._spec.size > DRAWS:
            return None  # whatever is left of so many designs is too rare to look for
        return next((design for design in self._spec.grid() if self._take(design)), None)

    def _named(self, design: Design) -> dict[str, int]:
        return {axis.name: which for axis, which in zip(self._spec.axes, design, strict=True)}

    def _take(self, design: Design) -> bool:
        """Whether a design is new and possible."""
        if design in self._seen:
            return False
        self._seen.add(design)
        return self._possible(design)

    def tell(self, tried: Tried) -> None:
        """What came of a proposal."""
        trial = self._waiting.pop(tried.design, None)
        if tried.problem:
            if trial is not None:
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            return
        values = [tried.costs[name] for name in self._spec.objectives]
        violations = list(tried.violations.values())
        if trial is not None:
            trial.set_user_attr("violations", violations)
            self._study.tell(trial, values)
            return
        create = self._optuna.trial.create_trial
        self._study.add_trial(
            create(
                params=self._named(tried.design),
                distributions=self._distributions,
                values=values,
                user_attrs={"violations": violations},
                system_attrs={"constraints": violations} if self._spec.constraints else {},
            )
        )
