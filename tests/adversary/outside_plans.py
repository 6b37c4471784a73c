"""Faults outside the kernel, in plans: prices, noise, neighbours, settings, premises, estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

from tests.adversary.planting import Fault, Patch, always, argument, result
from tests.adversary.probes import (
    CHOICES,
    COUNTS,
    DISTINCT,
    FILTERS,
    GROUPS,
    MODES,
    MOMENTS,
    OPEN,
    RANKS,
    SEVERAL,
    SUMS,
    UNITS,
)


def _room(name: str) -> Any:
    return import_module(f"adomnia.{name}")


# Prices and noise


def _half_bound(bound: Any) -> Any:
    return replace(bound, l1=bound.l1 / 2, l2_squared=bound.l2_squared / 4)


def _no_bound(bound: Any) -> Any:
    return replace(bound, l1=Fraction(0), l2_squared=Fraction(0))


def _made(change: Callable[[Any], Any]) -> Patch:
    """Mechanisms changed after they were made."""
    return result(change)


def _half_price(mechanism: Any) -> Any:
    event = mechanism.event
    fields = {n: v / 2 for n, v in vars(event).items() if n in ("epsilon", "rho")}
    return replace(mechanism, event=replace(event, **fields))


def _half_noise(mechanism: Any) -> Any:
    if getattr(mechanism, "noise", None) is None:
        return mechanism
    return replace(
        mechanism, noise=replace(mechanism.noise, parameter=mechanism.noise.parameter / 2)
    )


def _no_noise(mechanism: Any) -> Any:
    if getattr(mechanism, "noise", None) is None:
        return mechanism
    return replace(mechanism, noise=replace(mechanism.noise, parameter=Fraction(0)))


def _gaussian(mechanism: Any) -> Any:
    if getattr(mechanism, "noise", None) is None:
        return mechanism
    return replace(mechanism, noise=replace(mechanism.noise, kind="gaussian"))


def _laplace(mechanism: Any) -> Any:
    if getattr(mechanism, "noise", None) is None:
        return mechanism
    return replace(mechanism, noise=replace(mechanism.noise, kind="laplace"))


def _free(mechanism: Any) -> Any:
    return replace(mechanism, event=_room("privacy.events").Free())


def _faster(mechanism: Any) -> Any:
    if "eta" not in type(mechanism).__dataclass_fields__:
        return mechanism
    return replace(mechanism, eta=mechanism.eta * 2)


def _sharper(smooth: Any) -> Any:
    return None if smooth is None else replace(smooth, epsilon=smooth.epsilon * 2)


def _unpaid_delta(mechanism: Any) -> Any:
    event = mechanism.event
    if not getattr(event, "delta", 0):
        return mechanism
    return replace(mechanism, event=replace(event, delta=event.delta / 1000))


def _another_target(mechanism: Any) -> Any:
    if getattr(mechanism, "target", None) is None:
        return mechanism
    share = _room("mechanisms.quantiles.quantile").Share(Fraction(37, 100))
    return replace(mechanism, target=share)


FOLLOWS: tuple[str, Patch] = (
    "curator.planning.quantile_choice:Candidates.better",
    lambda _: lambda self, error: None if self.epsilon is None else self.noise("waring"),
)
"""Noise that follows the data, wherever it is possible."""
ROOTS = ("SELECT MEDIAN(age) FROM people", "SELECT MAX(income) FROM people WHERE smoker",
         "SELECT sex, QUANTILE(age, 0.25) FROM people GROUP BY 1")  # fmt: skip
STEP, MADE = "curator.planning.plan:_step", "curator.planning.mechanism_choice:mechanism_of"
PRICES = (
    Fault("a bound halved in planning", "outside", "curator.planning.plan:_sensitivity",
          result(_half_bound), (*SUMS, *COUNTS, *RANKS)),
    Fault("a bound of zero in planning", "outside", "curator.planning.plan:_sensitivity",
          result(_no_bound), (*SUMS, *COUNTS)),
    Fault("every part gets all", "outside", "curator.planning.mechanism_choice:LossRequest.share",
          argument(1, "parts", lambda _: 1), SEVERAL),
    Fault("a part gets more than all", "outside",
          "curator.planning.mechanism_choice:LossRequest.share",
          argument(1, "parts", lambda parts: Fraction(parts, 10)), SEVERAL),
    Fault("an event of half the price", "outside", MADE, _made(_half_price),
          (*COUNTS, *SUMS, *RANKS, *MODES)),
    Fault("an event that is free", "outside", MADE, _made(_free), (*COUNTS, *RANKS, *MODES)),
    Fault("noise halved in planning", "outside", MADE, _made(_half_noise), (*COUNTS, *SUMS)),
    Fault("no noise planned", "outside", MADE, _made(_no_noise), (*COUNTS, *SUMS)),
    Fault("noise halved for open keys", "outside", MADE, _made(_half_noise), OPEN,
          currency="epsilon"),
    Fault("Gaussian noise at the price of Laplace", "outside", MADE, _made(_gaussian),
          (*COUNTS, *FILTERS, *OPEN), currency="epsilon"),
    Fault("Laplace noise at the price of Gaussian", "outside", MADE, _made(_laplace),
          (*COUNTS, *FILTERS), currency="rho"),
    Fault("the wrong norm", "outside", "curator.planning.plan:_sensitivity",
          result(lambda b: replace(b, l1=min(b.l1, 1), l2_squared=b.l2_squared)),
          (*FILTERS, *GROUPS), "bounded"),
    Fault("the other wrong norm", "outside", "curator.planning.plan:_sensitivity",
          result(lambda b: replace(b, l2_squared=min(b.l1, b.l2_squared))), (*SUMS, *MOMENTS),
          currency="rho"),
    Fault("a rate doubled in planning", "outside", MADE, _made(_faster), (*RANKS, *MODES)),
    Fault("noise that follows the data, twice as sharp", "outside",
          "curator.planning.quantile_choice:Candidates.better",
          lambda original: lambda self, error: _sharper(
              None if self.epsilon is None else original(self, "value")), ROOTS),
    Fault("a delta that is not paid", "outside", MADE, _made(_unpaid_delta), (*OPEN, *ROOTS),
          currency="epsilon"),
    Fault("another rank aimed at", "outside", MADE, _made(_another_target),
          (*RANKS, "SELECT MIN(income) FROM people")),
    Fault("a threshold too low", "outside", "curator.planning.plan:_threshold",
          result(lambda found: None if found is None else 2), OPEN, currency="epsilon"),
    Fault("a threshold for one row", "outside", "curator.planning.plan:_threshold",
          result(lambda found: None if found is None else found - 1), OPEN, "unit",
          currency="epsilon"),
    Fault("no threshold at all", "outside", "curator.planning.plan:_threshold", always(None), OPEN,
          currency="epsilon"),
)  # fmt: skip


# Neighbours and settings


def _among(change: Callable[[Any], Any]) -> Patch:
    """Plans made for other neighbours."""
    return argument(1, "policy", lambda p: replace(p, neighbors=change(p.neighbors)))


def _rows(policy: Any) -> Any:
    return replace(policy, unit=None, neighbors=policy.neighbors.of_rows())


def _counted(change: Callable[[Any], Any]) -> Patch:
    return result(lambda found: tuple(
        replace(one, counted=change(one.counted)) if hasattr(one, "counted") else one
        for one in found
    ))  # fmt: skip


def _second(change: Callable[[Any], Any]) -> Patch:
    """The last of several steps of a plan changed."""
    return result(lambda plan: replace(plan, steps=(*plan.steps[:-1], change(plan.steps[-1]))))


def _nowhere(step: Any) -> Any:
    room = _room("mechanisms.measurement_mechanisms")
    return replace(step, place=room.Place(most=step.place.most))


PLAN = "curator.planning.plan:make_plan"
SETTINGS = (
    Fault("rows in the place of units", "outside", PLAN, argument(1, "policy", _rows), UNITS,
          "unit", {"max_rows": 3}),
    Fault("rows in the place of replaced units", "outside", PLAN, argument(1, "policy", _rows),
          (*UNITS, *SUMS), "bounded unit", {"max_rows": 2}),
    Fault("rows that come in the place of rows that change", "outside", PLAN,
          _among(lambda n: replace(n, relation="unbounded")), (*COUNTS, *FILTERS, *GROUPS),
          "bounded"),
    Fault("one value in the place of a row", "outside", PLAN,
          _among(lambda n: replace(n, relation="attribute")), (*FILTERS, *SUMS), "bounded"),
    Fault("one bit in the place of a value", "outside", PLAN,
          _among(lambda n: replace(n, relation="bit")), SUMS, "attribute"),
    Fault("one in the place of a group", "outside", PLAN, _among(lambda n: replace(n, group=1)),
          (*COUNTS, *RANKS, *MODES), "unbounded", {"group": 3}),
    Fault("one row in the place of any table", "outside", PLAN,
          _among(lambda n: _room("privacy.neighbors").Neighbors("bounded")), (*COUNTS, *SUMS),
          "free-lunch"),
    Fault("fewer rows of a unit", "outside", PLAN, _among(lambda n: replace(n, rows=1)), UNITS,
          "unit", {"max_rows": 3}),
    Fault("fewer groups of a unit", "outside", PLAN, _among(lambda n: replace(n, groups=1, each=1)),
          (*UNITS, *OPEN), "unit", {"max_rows": 3, "max_groups": None, "each": None},
          currency="epsilon"),
    Fault("a setting without keys", "outside", "curator.planning.plan:_setting",
          result(lambda s: replace(s, keys=())), GROUPS, "bounded"),
    Fault("a setting without WHERE", "outside", "curator.planning.plan:_setting",
          result(lambda s: replace(s, where=None)), (*COUNTS, *SUMS), "bounded"),
    Fault("a setting of one cell", "outside", "curator.planning.plan:_setting",
          result(lambda s: replace(s, cells=1)), (*UNITS, *GROUPS), "unit",
          {"max_rows": 5, "each": 1}),
    Fault("a setting without unit", "outside", "curator.planning.plan:_setting",
          result(lambda s: replace(s, unit=None)), UNITS, "unit"),
    Fault("rows said to stay", "outside", "curator.planning.plan:_setting",
          result(lambda s: replace(s, stay=True)),
          ("SELECT COUNT(*) FROM people", *SUMS), "bounded", form="csv"),
    Fault("a plan without WHERE", "outside", "curator.planning.mechanism_choice:QuantileContext.of",
          lambda original: classmethod(lambda cls, *args: _nowhere(original.__func__(cls, *args))),
          (*COUNTS, *GROUPS)),
    Fault("a premise forgotten", "outside", "curator.planning.plan:_at",
          result(lambda scene: replace(scene, premises=())),
          ("SELECT COUNT(*) FROM people", "SELECT COUNT(*), SUM(age) FROM people"), "bounded",
          form="csv"),
    Fault("fewer cells shown than are paid", "outside", "curator.planning.plan:_at",
          result(lambda scene: replace(scene, shown=(0,))), (*GROUPS, *DISTINCT), "unit"),
    Fault("cells shown that are none", "outside", "curator.planning.plan:_at",
          result(lambda scene: replace(scene, shown=(0, 0, -1))), (*GROUPS, *DISTINCT), "unit"),
    Fault("one cell shown of open keys", "outside", "curator.planning.plan:_at",
          result(lambda scene: replace(scene, shown=(0,))), OPEN, "unit",
          {"max_rows": 5, "max_groups": None, "each": 1}, currency="epsilon"),
    Fault("one cell planned of open keys", "outside", "curator.planning.plan:_setting",
          result(lambda s: replace(s, cells=1)), OPEN, "unit",
          {"max_rows": 5, "max_groups": None, "each": 1}, currency="epsilon",
          more=(("curator.planning.plan:_at", result(lambda scene: replace(scene, shown=(0,)))),)),
    Fault("sums of open keys in no group", "outside", PLAN, _second(_nowhere),
          ("SELECT city, COUNT(*), SUM(age) FROM people WHERE smoker GROUP BY city",),
          "bounded", currency="epsilon",
          more=(("curator.planning.plan:_setting",
                 result(lambda s: replace(s, keys=(), where=None))),)),
    Fault("keys selected by another column", "outside", "curator.planning.plan:Plan.mechanisms",
          _counted(lambda at: (at[0], at[1] + 1)),
          ("SELECT city, COUNT(*), SUM(age) FROM people GROUP BY city",
           "SELECT city, COUNT(*), COUNT(*) FILTER (WHERE smoker) FROM people GROUP BY city"),
          currency="epsilon"),
    Fault("keys selected by a sum", "outside", "curator.planning.plan:Plan.mechanisms",
          _counted(lambda at: (0, 0)),
          ("SELECT city, SUM(income), COUNT(*) FROM people GROUP BY city",), currency="epsilon"),
    Fault("as few rows as one for noise that follows the data", "outside",
          "curator.planning.mechanism_choice:QuantileContext.candidates",
          argument(0, "self", lambda scene: replace(scene, steps=1)), ROOTS, "bounded",
          {"group": 2}, more=(FOLLOWS,)),
)  # fmt: skip


# Choices


def _mechanism(**change: Any) -> Patch:
    return argument(3, "mechanism", lambda one: replace(one, **change))


CHOSEN = (
    Fault("choices priced for one row", "outside", "curator.selections:_pay", _mechanism(rows=1),
          CHOICES, "bounded", {"group": 2}, "choices"),
    Fault("choices priced for one row of a unit", "outside", "curator.selections:_pay",
          _mechanism(rows=1), CHOICES, "unit", {"max_rows": 3}, "choices"),
    Fault("choices without a limit of rows", "outside", "curator.selections:_pay",
          _mechanism(most=None), CHOICES, "free-lunch", part="choices"),
    Fault("choices among any table's counts for one row", "outside", "curator.selections:_pay",
          _mechanism(rows=1, most=5), CHOICES, "free-lunch", {"most": 5}, "choices"),
    Fault("a condition of a choice dropped", "outside", "curator.selections:_condition",
          always(None), ("noisy_max", "above"), part="choices"),
    Fault("prices in the wrong order", "outside", "curator.selections:_ladder",
          result(lambda found: found[::-1]), ("auction",), part="choices"),
    Fault("prices of another step", "outside", "curator.selections:_ladder",
          result(lambda found: [price * 1000 for price in found]), ("auction",), part="choices"),
)  # fmt: skip


# What is made of noisy values

AFTER = (
    Fault("no margins", "outside", "mechanisms.margins.margin:margin", always(0), (*COUNTS, *SUMS)),
    Fault("margins of another noise", "outside", "curator.answers.estimate:_plain_margins",
          result(lambda found: [value * 3 for value in found]), (*COUNTS, *SUMS)),
    Fault("an estimate of something else", "outside", "curator.answers.estimate:scaled",
          lambda _: lambda steps, step: 7, SUMS),
    Fault("every bound said to be reached", "outside", "privacy.tightness:is_reached",
          always(True), (*COUNTS, *DISTINCT)),
    Fault("rows of answers in another order", "outside", "curator.answers.answer:arrange",
          result(lambda rows: rows[::-1]), GROUPS),
    Fault("all that was measured found by one name", "outside",
          "curator.planning.plan:Plan.found_by",
          always("0" * 32), (*COUNTS, *COUNTS)),
    Fault("mechanisms twice", "outside", "curator.planning.plan:Plan.mechanisms",
          result(lambda found: found * 2), (*COUNTS, *SUMS)),
    Fault("mechanisms in another order", "outside", "curator.planning.plan:Plan.mechanisms",
          result(lambda found: found[::-1]), SEVERAL),
)  # fmt: skip
