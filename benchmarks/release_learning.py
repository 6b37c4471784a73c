"""Train on released microdata, test on real rows: boosted trees' area under the curve."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from release_cases import APPROXIMATE, Budget
from release_peers import METHODS, MOST_TURNS, Question
from release_score import AIM, OURS, Counter, ways
from release_sets import Data, load, read
from release_ways import released

SHORT = 0.005
"""How far below AIM's the area may lie."""


@dataclass(frozen=True)
class Lesson:
    """A column to be foretold, the set to learn from, and the rows to judge by."""

    column: str
    taught: str
    held: str
    budget: Budget = APPROXIMATE


LESSONS = (Lesson("whi", "hi", "hi_held"), Lesson("income>50K", "adult_taught", "adult_held"))


@dataclass(frozen=True)
class Area:
    """The mean area under the curve of models that learned from one way's microdata."""

    mean: float
    runs: int

    def __str__(self) -> str:
        return f"{self.mean:.4f} (mean of {self.runs})"


def area(taught: np.ndarray, held: Data, place: int) -> float:
    """The area under the curve on the rows held out."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    if len(np.unique(taught[:, place])) < 2:
        return 0.5
    model = HistGradientBoostingClassifier(random_state=0)
    model.fit(np.delete(taught, place, 1), taught[:, place])
    shares = model.predict_proba(np.delete(held.records, place, 1))[:, 1]
    return float(roc_auc_score(held.records[:, place], shares))


def areas(lesson: Lesson, taught: Data, held: Data, repeats: int) -> dict[str, Area]:
    """Of the real rows, of ours, and of those peers whose microdata is there."""
    place = list(taught.domain).index(lesson.column)
    counter, workload = Counter(taught.records, taught.sizes), ways(taught.sizes, (1, 2))
    found = {"real rows": Area(area(taught.records, held, place), 1)}
    made = [
        np.asarray(released(workload, counter, lesson.budget.loss).microdata)
        for _ in range(repeats)
    ]
    found[OURS] = _mean([area(one, held, place) for one in made])
    for name in METHODS:
        files = kept(name, taught, lesson.budget)
        if files:
            found[name] = _mean([area(read(file), held, place) for file in files])
    return found


def kept(name: str, taught: Data, budget: Budget) -> list[Path]:
    """The microdata of a peer's runs."""
    turns = (Question(name, taught, budget, turn) for turn in range(MOST_TURNS))
    return [one.microdata for one in turns if one.known() and one.microdata.exists()]


def questions(folder: Path, turns: int, names: Sequence[str]) -> list[Question]:
    """What the peers are asked, so that there is microdata to learn from."""
    return [
        Question(name, taught, lesson.budget, turn)
        for lesson in LESSONS
        if _asked(lesson, names) and (taught := load(lesson.taught, folder)) is not None
        for turn in range(turns)
        for name in METHODS
    ]


def _asked(lesson: Lesson, names: Sequence[str]) -> bool:
    return not names or bool({lesson.taught.removesuffix("_taught"), "learning"} & {*names})


def _mean(values: Sequence[float]) -> Area:
    return Area(statistics.fmean(values), len(values))


def short(found: dict[str, Area]) -> list[str]:
    """Where ours learns less than AIM's."""
    if AIM not in found or found[OURS].mean >= found[AIM].mean - SHORT:
        return []
    return [f"area {found[OURS].mean:.4f}, AIM's {found[AIM].mean:.4f}"]


def learn(folder: Path, repeats: int, names: Sequence[str]) -> dict[str, dict[str, Area]]:
    """Every lesson whose set is there, printed as it comes."""
    seen = {}
    for lesson in LESSONS:
        taught, held = load(lesson.taught, folder), load(lesson.held, folder)
        if taught is None or held is None or not _asked(lesson, names):
            continue
        title = f"{lesson.column} of {lesson.taught}, {lesson.budget}"
        print(f"\nTrained on microdata, tested on {len(held.records):,} real rows: {title}")
        seen[title] = areas(lesson, taught, held, repeats)
        for name, value in seen[title].items():
            print(f"  {name:<26}{value}", flush=True)
        print(f"  behind: {'; '.join(short(seen[title])) or 'no'}")
    return seen
