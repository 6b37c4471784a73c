"""Section 1.1: ratings, linked to people."""

from __future__ import annotations

from typing import Any

import numpy as np

from adomnia.audit.linkage.scoreboard import STANDARD, Hunt, Ratings, scoreboard
from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import Claim, Found, Scale, Table
from experiments.measured import Share, share

__all__ = ["LINKED", "made_up_ratings"]

PRINTED_NAMED, PRINTED_LISTED = 0.96, 0.89


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
    """The scoreboard attack: who is named outright, and who is on a list of eight."""
    people, targets = scale.pick(4000, 100_000), scale.pick(1000, 2000)
    published = made_up_ratings(people, scale.pick(2000, 17_000), scale.chance(4, 1))
    found = {
        (facts, wrong, dated): scoreboard(published, Hunt(facts, wrong, dated, targets=targets),
                                          seed=scale.seed, time_limit=300.0).details
        for facts, wrong in ((2, 0), (4, 0), (8, 2))
        for dated in (True, False)
    }  # fmt: skip
    kinds = ("claimed_rightly", "in_lineup", "false_positive")
    rates = {hunt: [_rate(details, kind) for kind in kinds] for hunt, details in found.items()}
    named, listed = rates[8, 2, True][0], rates[2, 0, True][1]
    return Found(
        f"8 facts, 2 wrong, dated: {named} named; 2 facts, dated: {listed} on a list of "
        f"{STANDARD.lineup}",
        named.above(PRINTED_NAMED) and listed.above(PRINTED_LISTED),
        "Agrees where surely no fewer are found than printed. There are no ratings in the shared "
        "data, so these are made up, with the long tail of real ones; their days are spread evenly "
        "over six years, which makes a date tell more than real ones do, and the file is smaller "
        "than the 480,000 people of the paper. So the attack is run as it stands, but the printed "
        "shares are not measured again: a more telling file gives larger ones.",
        f"{people:,} made-up people, {targets:,} targets each; a record is on the list if at most "
        f"{STANDARD.lineup} score as high",
        [Table(("facts", "wrong", "dates", "named rightly", "on the list", "named though absent"),
               [(facts, wrong, "within 3 days" if dated else "none", *rates[facts, wrong, dated])
                for facts, wrong, dated in rates])],
        [draw(_ratings_plot(rates, people))],
    )  # fmt: skip


def _rate(details: dict[str, Any], kind: str) -> Share:
    many = details["looked_for"]
    return share(round(details[kind]["value"] * many), many)


def _ratings_plot(rates: dict[tuple[int, int, bool], list[Share]], people: int) -> Plot:
    lines = []
    for kind, name in ((0, "named"), (1, f"on a list of {STANDARD.lineup}")):
        for dated in (True, False):
            seen = {hunt[0]: rate[kind] for hunt, rate in rates.items() if hunt[2] == dated}
            lines.append(Series(f"{name}, {'dated' if dated else 'undated'}", list(seen),
                              [one.value for one in seen.values()],
                              [1.96 * one.se for one in seen.values()]))  # fmt: skip
    lines.append(Series("the paper, on real ratings", [2, 8], [PRINTED_LISTED, PRINTED_NAMED],
                      paper=True, dots=True, labels=["89 % listed", "96 % named"]))  # fmt: skip
    return Plot(f"MADE-UP RATINGS of {people:,} people: who is found",
                "ratings known (of 8, two are wrong)", "share of people", lines,
                ends_up=(0, 1))  # fmt: skip


LINKED = (
    Claim("004", "Section 1.1, ratings",
          "With 8 ratings, of which 2 may be wrong, and dates within 3 days, 96 % of subscribers "
          "are uniquely identified; for 89 %, 2 ratings and dates leave at most 8 records.",
          "96 % named, 89 % on a list of 8", ratings, seconds=(3, 40)),
)  # fmt: skip
