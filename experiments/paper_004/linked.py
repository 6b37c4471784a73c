"""Section 1: ratings and k-anonymised records, linked to people."""

from __future__ import annotations

import numpy as np
from pyarrow import parquet

from adomnia.audit.linkage import link_exactly
from adomnia.audit.scoreboard import Hunt, Ratings, scoreboard
from adomnia.audit.uniqueness import anonymity
from adomnia.cli.census import census_rows
from experiments.claim import Claim, Found, Scale, Table
from experiments.data import find
from experiments.drawing import Line, Plot, draw
from experiments.measured import share

__all__ = ["LINKED"]


def made_up_ratings(people: int, items: int, chance: np.random.Generator) -> Ratings:
    """Ratings with a few very popular items and a long tail, on days of six years."""
    counts = np.clip(chance.lognormal(3.5, 1.0, people).astype(int), 5, items // 4)
    weights = 1 / np.arange(1, items + 1) ** 0.9
    weights /= weights.sum()
    who = np.repeat(np.arange(people), counts)
    what = chance.choice(items, who.size, p=weights)
    return Ratings.of(who, what, chance.integers(1, 6, who.size),
                      chance.integers(0, 2190, who.size), (people, items))  # fmt: skip


def ratings(scale: Scale) -> Found:
    """The scoreboard attack, with eight facts of which two are wrong, and with two facts."""
    people = scale.pick(4000, 100_000)
    published = made_up_ratings(people, scale.pick(2000, 17_000), scale.chance(4, 1))
    targets, rows = scale.pick(100, 400), []
    for facts, wrong, dated in ((8, 2, True), (8, 2, False), (2, 0, True), (2, 0, False)):
        hunt = Hunt(facts, wrong, dated, targets=targets)
        found = scoreboard(published, hunt, seed=scale.seed)
        rate = share(round(found.success.value * targets), targets)
        rows.append((facts, wrong, "within 3 days" if dated else "none", rate,
                     found.details["false_positive"]["value"]))  # fmt: skip
    best, pair = rows[0][3], rows[2][3]
    return Found(
        f"8 facts, 2 wrong, dated: {best}; 2 facts, dated: {pair}",
        best.value > 0.9,
        "There are no ratings in the shared data, so these are made up, with the long tail of "
        "real ones: eight dated facts, two of them wrong, name nearly everybody, as printed. The "
        "second number printed (two facts leave at most eight records for 89 %) is about a list "
        "that a person looks through; here it is how often the record is named outright.",
        f"{people:,} made-up people, {targets} targets each",
        [Table(("facts", "wrong", "dates", "named rightly", "named though absent"), rows)],
    )  # fmt: skip


def k_anonymity(scale: Scale) -> Found:
    """k-anonymity and what is linked all the same, on census records."""
    path = find("adult/adult.parquet")
    if path is not None:
        table = parquet.read_table(path).to_pydict()
        names = {key.replace("-", "_").replace(".", "_"): key for key in table}
        columns = {name: np.asarray(table[key]) for name, key in names.items()}
        quasi = [n for n in ("age", "sex", "race", "education", "marital_status") if n in columns]
        sensitive = next(n for n in ("occupation", "income") if n in columns)
        source = "UCI Adult"
    else:
        made = census_rows(0, 40_000, np.random.default_rng(4))
        columns = {n: made[n].to_numpy(zero_copy_only=False) for n in made.column_names}
        quasi, sensitive = ["age", "sex", "region", "education"], "occupation"
        source = "A MADE-UP CENSUS: the real file is not here"
    exact = {name: columns[name] for name in quasi}
    linked = link_exactly(exact, exact, quasi, np.arange(len(columns["age"])))
    rows, places, guessed = [], [], []
    for width in (1, 5, 10, 20, 40):
        coarse = {**columns, "age": columns["age"] // width}
        found = anonymity(coarse, quasi, sensitive)
        known = _guess(coarse, quasi, sensitive)
        rows.append((width, found.uniques, found.k, known))
        places.append(width)
        guessed.append(known)
    base = float(np.unique(columns[sensitive], return_counts=True)[1].max() / len(columns["age"]))
    plot = Plot("Coarser ages: who is alone, and what is known all the same", "years in one group",
                "right guesses of the sensitive value",
                [Line("the commonest of one's class", places, guessed),
                 Line("the commonest of all", places, [base] * len(places), paper=True)],
                ends_up=(0, 1))  # fmt: skip
    return Found(
        f"{linked.success.value:.1%} of all rows are linked exactly; coarsened, secrets are still "
        f"guessed in {guessed[-1]:.0%}, against {base:.0%}",
        linked.success.value > 0.05 and guessed[-1] > base,
        "k-anonymity is a condition on the file: removing those who are alone does not keep a "
        "class from sharing its secret, and says nothing of what else is known.",
        f"columns {', '.join(quasi)}; sensitive: {sensitive}. Data: {source}",
        [Table(("years", "people alone", "smallest class", "guessed right"), rows)],
        [draw(plot)],
    )


def _guess(columns: dict[str, np.ndarray], quasi: list[str], sensitive: str) -> float:
    """How often the commonest sensitive value of one's class is one's own."""
    codes = [np.unique(columns[name], return_inverse=True)[1] for name in (*quasi, sensitive)]
    sizes = [int(code.max()) + 1 for code in codes]
    cells = np.ravel_multi_index(codes, sizes)
    places, counts = np.unique(cells, return_counts=True)
    classes = places // sizes[-1]
    best = np.zeros(int(classes.max()) + 1)
    np.maximum.at(best, classes, counts)
    return float(best.sum() / len(cells))


LINKED = (
    Claim("004", "Section 1.1, ratings",
          "With 8 ratings, of which 2 may be wrong, and dates within 3 days, 96 % of subscribers "
          "are uniquely identified; for 89 %, 2 ratings and dates leave at most 8 records.",
          "96 %", ratings, seconds=(4, 90)),
    Claim("004", "Section 1.2, k-anonymity",
          "Attributes that are together nearly unique link records to people; k-anonymity is a "
          "syntactic condition and does not give privacy.",
          "no number", k_anonymity, seconds=(2, 2)),
)  # fmt: skip
