"""The seams: the one file that knows names inside the package.

A `Spy` stands where noise is drawn and where choices are made. It notes the exact values and the
scale that is really used, or the scores and the rate, and lets nothing random through: on the
first table outputs are the exact ones, on every neighbour they are those of the first. So an
answer is the same on both, unless it depends on the data in a way that no noise covers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

ROOM = "adomnia.mechanisms"
ALL = 90
"""Totals are looked at in so many places of a scan's grid, and behind them in some."""


@dataclass
class Note:
    """One draw or choice: its kind, its parameters, and what of the data it was given."""

    kind: str
    scale: Any
    values: list[Any]
    more: dict[str, Any] = field(default_factory=dict)
    out: list[Any] = field(default_factory=list)


class Diverged(Exception):
    """The two tables were not measured in the same way."""


class Draw:
    """A draw that has not happened: it notes to what it is added, and becomes the output."""

    __slots__ = ("note", "place", "spy")

    def __init__(self, spy: Spy, note: Note, place: int) -> None:
        self.spy, self.note, self.place = spy, note, place

    def __add__(self, exact: Any) -> int:
        return self.spy.added(self.note, self.place, int(exact))

    __radd__ = __add__

    def __int__(self) -> int:
        self.note.more["lost"] = True
        return 0

    def __lt__(self, _: object) -> bool:
        return False  # so that no sum is thought to fit into a machine's word

    __gt__ = __le__ = __ge__ = __lt__


@dataclass
class Led:
    """A scan that is led to one place after the other; the scores that it was given."""

    place: int = 0
    scores: Any = None
    scales: list[Fraction] = field(default_factory=list)
    bar: int = 0


@dataclass
class Spy:
    """What was noted while one question was answered; with `first`, its outputs are repeated."""

    first: list[Note] | None = None
    notes: list[Note] = field(default_factory=list)
    quiet: list[list[Note]] = field(default_factory=list)
    led: Led | None = None

    @cached_property
    def _open_keys(self) -> bool:
        """Whether the first table chose its groups: then draws need not stand in one place."""
        return any(note.kind == "keys" for note in self.first or ())

    def note(self, kind: str, scale: Any, values: list[Any], **more: Any) -> Note:
        """A new note; where a function is watched as a whole, it goes to what that one drew."""
        made = Note(kind, scale, values, more)
        (self.quiet[-1] if self.quiet else self.notes).append(made)
        return made

    def same(self, note: Note) -> Note | None:
        """The note in this place on the first table."""
        if self.first is None or self.quiet or self._open_keys:
            return None
        place = len(self.notes) - 1
        if place >= len(self.first) or self.first[place].kind != note.kind:
            raise Diverged(f"draw {place} is {note.kind}, which it is not on the first table")
        return self.first[place]

    def output(self, note: Note, exact: Any) -> Any:
        """What leaves in the place of a noisy value: the exact one of the first table."""
        same = self.same(note)
        note.out = [exact] if same is None else same.out
        return note.out[0]

    def draws(self, kind: str, scale: Fraction, size: int) -> Any:
        """As many draws that have not happened."""
        note = self.note(kind, scale, [None] * size)
        note.out = [None] * size
        same = self.same(note)
        if same is not None and len(same.values) != size:
            raise Diverged(f"{size} draws, and {len(same.values)} on the first table")
        note.more["same"] = same
        if self.quiet:
            return np.zeros(size, np.int64)
        drawn = np.empty(size, object)
        for place in range(size):
            drawn[place] = Draw(self, note, place)
        return drawn

    def added(self, note: Note, place: int, exact: int) -> int:
        """The noisy value of an exact one."""
        note.values[place] = exact
        same = note.more.get("same")
        shown = exact if same is None or note.scale == 0 else same.out[place]
        note.out[place] = exact if shown is None else shown
        return int(note.out[place])

    @contextmanager
    def watched(self) -> Iterator[list[Note]]:
        """The draws inside, kept apart: what they are for is judged as a whole."""
        self.quiet.append([])
        try:
            yield self.quiet[-1]
        finally:
            self.quiet.pop()


_now: list[Spy] = []
_undo: list[tuple[Any, str, Any]] = []
Made = Callable[[Callable[..., Any]], Callable[..., Any]]


@contextmanager
def spying(first: list[Note] | None = None) -> Iterator[Spy]:
    """A spy in every place of the package while the block runs."""
    spy = Spy(first)
    _now.append(spy)
    try:
        with steady():
            yield spy
    finally:
        _now.pop()


@contextmanager
def steady() -> Iterator[None]:
    """The same bits again in every use: whatever else is drawn, to round or to sort, is alike."""
    system, chance = import_module(f"{ROOM}.randomness").SYSTEM, Random(1)

    def words(n: int) -> Any:
        return np.frombuffer(chance.randbytes(8 * n), np.uint64)

    names = {"words": words, "integer": lambda bits: chance.getrandbits(bits) if bits else 0,
             "below": chance.randrange}  # fmt: skip
    for name, draw in names.items():
        setattr(system, name, draw)
    try:
        yield
    finally:
        for name in names:
            delattr(system, name)


@contextmanager
def choosing() -> Iterator[None]:
    """Adaptive releases choose one of their tables, whether that is worth it or not."""
    plan = import_module("adomnia.marginals.adaptive").AdaptivePlan
    planned = import_module("adomnia.marginals.core.schedule").Schedule
    parts = {
        "measures_all": lambda self, rows: False,
        "schedule": lambda self, rows: planned(
            Fraction(1, 2), Fraction(1, 4), 1 if self.candidates else 0
        ),
    }
    with patch.multiple(plan, **parts):
        yield


def install() -> None:
    """Put the seams in: every module that has one of the functions gets the watched one."""
    if getattr(sys, "_adomnia_watched", False):
        return
    sys._adomnia_watched = True  # type: ignore[attr-defined]
    for room in IMPORTERS:  # so that whoever imports them has done so
        import_module(room)
    for path, make in SEAMS.items():
        room, _, name = path.rpartition(".")
        original = getattr(import_module(f"{ROOM}.{room}"), name)
        places = replace(original, _guarded(original, make(original)))
        _undo.extend((module, key, original) for module, key in places)
    ladder = import_module(f"{ROOM}.graphs.ladder").Ladder
    _undo.append((ladder, "__init__", ladder.__init__))
    _watch_base(ladder)
    added = import_module(f"{ROOM}.measurement_mechanisms").AddedNoise
    _undo.append((added, "release", added.release))
    _watch_shown(added)
    found = import_module(f"{ROOM}.joins.clamped_totals")._Clamped
    _undo.append((found, "release", found.release))
    _watch_found(found)


def uninstall() -> None:
    """Take the seams out again: other tests compare these functions with themselves."""
    while _undo:
        owner, key, original = _undo.pop()
        setattr(owner, key, original)
    sys._adomnia_watched = False  # type: ignore[attr-defined]


def _watch_shown(added: Any) -> None:
    """Cells that are measured and never shown: 0 leaves in their place, whatever was drawn."""
    original = added.release

    def release(self: Any, *args: Any) -> Any:
        noisy = original(self, *args)
        if _now and self.shown is not None:
            values = np.asarray(noisy.values)
            cells = values.reshape(len(values), -1).shape[1]
            left, shown = np.flatnonzero(values.reshape(-1) == 0).tolist(), set(self.shown)
            _now[-1].notes[-1].more["hidden"] = {i for i in left if i // cells not in shown}
        return noisy

    added.release = release


def _watch_base(ladder: Any) -> None:
    """The noisy base of a ladder: the draw in it is made a number, so it is noted here."""
    original = ladder.__init__

    def init(self: Any, epsilon: Any, rung: Any = None, base: int = 0, scale: Any = 0) -> None:
        if _now and rung is not None:
            drawn = _now[-1].notes[-1]
            drawn.values, drawn.more["lost"] = [int(base)], False
            same = drawn.more.get("same")
            drawn.out = [int(base)] if same is None else same.out
            base = drawn.out[0]
        original(self, epsilon, rung, base, scale)

    ladder.__init__ = init


def replace(original: Any, other: Any) -> list[tuple[Any, str]]:
    """Put another function wherever the package has the original; where that was."""
    places = []
    for name, module in list(sys.modules.items()):
        if name.startswith("adomnia") and module is not None:
            for key, value in list(vars(module).items()):
                if value is original:
                    setattr(module, key, other)
                    places.append((module, key))
    return places


def _guarded(original: Callable[..., Any], watched: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        if not _now:
            return original(*args, **named)
        return watched(*args, **named)

    call.__wrapped__ = original  # type: ignore[attr-defined]
    return call


def opened(sealed: Any) -> Any:
    """What is in a sealed envelope."""
    return getattr(sealed, "_Sealed__value")  # noqa: B009


def _sample(kind: str) -> Made:
    return lambda _: lambda scale, size, bits=None: _now[-1].draws(kind, Fraction(scale), size)


def _thinned(_: Callable[..., Any]) -> Callable[..., Any]:
    def call(width: Any, variances: Any, counts: Any, bits: Any = None) -> Any:
        spy = _now[-1]
        return np.concatenate(
            [
                spy.draws("gaussian", Fraction(v), int(n))
                for v, n in zip(variances, counts, strict=True)
            ]
        )

    return call


def _quantile(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        spy = _now[-1]
        with spy.watched() as inner:
            point = original(*args[:-1], Steady())
        (chosen,) = [note for note in inner if note.kind == "choose"]
        note = spy.note("quantile", chosen.scale, chosen.values, **chosen.more)
        return spy.output(note, point)

    return call


def _choose(_: Callable[..., Any]) -> Callable[..., Any]:
    def call(penalties: Any, multiplicities: Any, eta: Any, bits: Any = None) -> int:
        listed = [int(p) for p in penalties]
        many = [int(m) for m in multiplicities]
        spy = _now[-1]
        note = spy.note("choose", Fraction(eta), listed, many=many)
        if not spy.quiet:
            raise Diverged("a choice that no seam watches")
        return int(np.argmin(np.array(note.values, object)))

    return call


def _flip(_: Callable[..., Any]) -> Callable[..., Any]:
    def call(gaps: Any, eta: Any, bits: Any = None) -> int:
        spy, listed = _now[-1], [int(gap) for gap in gaps]
        return int(spy.output(spy.note("flip", Fraction(eta), listed), listed.index(0)))

    return call


def _weights(_: Callable[..., Any]) -> Callable[..., Any]:
    def call(gaps: Any, eta: Any, bits: Any = None) -> int:
        spy, listed = _now[-1], [int(gap) for gap in gaps]
        return int(spy.output(spy.note("weights", Fraction(eta), listed), listed.index(0)))

    return call


def _noisy_max(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(scores: Any, sensitivity: Any, epsilon: Any, bits: Any = None, monotone: bool = False):
        spy = _now[-1]
        with spy.watched() as inner:
            original(scores, sensitivity, epsilon, Steady(), monotone)
        listed = [int(s) for s in np.asarray(scores).reshape(-1)]
        note = spy.note("max", inner[0].scale, listed)
        return int(spy.output(note, int(np.argmax(np.array(listed)))))

    return call


def _above(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(answers: Any, threshold: int, plan: Any, bits: Any = None) -> Iterator[bool]:
        spy, listed = _now[-1], [int(a) for a in answers]
        with spy.watched() as inner:
            told = list(original(iter(listed), threshold, plan))
        scales = [Fraction(note.scale) for note in inner]
        note = spy.note("above", scales[:2], listed, bar=int(threshold), cutoff=plan.cutoff)
        return iter(spy.output(note, told))

    return call


def _scan(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(above: Any, plan: Any, bits: Any = None) -> int:
        spy = _now[-1]
        if spy.led is not None and spy.led.scores is not None:
            return spy.led.place
        listed = [int(n) for n in above]
        with spy.watched() as inner:
            place = original(listed, plan, Steady())
        scales = [Fraction(note.scale) for note in inner]
        if spy.led is not None:
            spy.led.scores, spy.led.bar = listed, int(plan.threshold)
            spy.led.scales = [scales[0], scales[-1]]
            return spy.led.place
        note = spy.note("scan", [scales[0], scales[-1]], listed, bar=int(plan.threshold))
        return int(spy.output(note, place))

    return call


def _looked_at(many: int) -> list[int]:
    """Places behind the first at which totals are looked at: all, but few of those far above."""
    return [place for place in range(1, many) if place < ALL or place % 8 == 0 or place == many - 1]


def _watch_found(found: Any) -> None:
    """Totals at a bound that is found: those of every bound that the scan may stop at."""
    original = found.release

    def release(self: Any, sealed: Any, *bits: Any) -> Any:
        if not _now:
            return original(self, sealed, *bits)
        spy, told, noise, places = _now[-1], [], [], [0]
        led = spy.led = Led()
        try:
            for led.place in places:
                with spy.watched() as inner:
                    told.append(original(self, sealed, *bits))
                noise.append((inner[-1].kind, inner[-1].scale))
                if not led.place:
                    places += _looked_at(len(led.scores))
        finally:
            spy.led = None
        totals = [[int(v) for v in np.asarray(one.noisy.values).reshape(-1)] for one in told]
        note = spy.note("found", led.scales, led.scores, bar=led.bar, totals=totals, noise=noise,
                        places=places)  # fmt: skip
        return spy.output(note, told[Random(repr(totals)).randrange(len(told))])

    found.release = release


def _select_keys(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(sealed: Any, scale: Any, threshold: int, bits: Any = None) -> Any:
        keys, counts = opened(sealed)
        spy, order = _now[-1], sorted(range(len(keys)), key=lambda i: repr(keys[i]))
        kept = [keys[i] for i in order]
        spy.note(
            "keys", Fraction(scale), [int(counts[i]) for i in order], keys=kept, bar=int(threshold)
        )
        shown = np.array([max(int(counts[i]), int(threshold)) for i in order], object)
        return kept, order, shown

    return call


def _conditioned(_: Callable[..., Any]) -> Callable[..., Any]:
    def call(sealed: Any, basis: Any, scale: Any, bits: Any = None, *, groups: Any = (),
             places: Any = None) -> Any:  # fmt: skip
        exact = np.asarray(opened(sealed))
        exact = exact if places is None else exact.reshape(-1)[list(places)]
        rows = np.asarray(basis.toarray() if hasattr(basis, "toarray") else basis)
        spy = _now[-1]
        note = spy.note(
            "conditioned", Fraction(scale), [int(v) for v in exact.reshape(-1)],
            basis=[[int(v) for v in row] for row in rows],
            groups=[([int(c) for c in columns], Fraction(its)) for columns, its in groups],
        )  # fmt: skip
        return np.array(spy.output(note, exact))

    return call


def _table(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(sealed: Any, tables: Any, moves: Any, *args: Any, **named: Any) -> Any:
        spy = _now[-1]
        far = import_module(f"{ROOM}.tables.consistent")
        seen: list[Any] = []
        distances = far.distances

        def watch(*given: Any) -> Any:
            seen.append(distances(*given))
            return seen[-1]

        far.distances = watch
        try:
            with spy.watched() as inner:
                table = original(sealed, tables, moves, *args, **named)
        finally:
            far.distances = distances
        (chosen,) = [note for note in inner if note.kind == "choose"]
        penalties = [int(p) for p in seen[-1]]
        return spy.output(spy.note("table", chosen.scale, penalties), table)

    return call


def _ladder(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(truth: int, rungs: Any, epsilon: Any, digits: int, bits: Any = None) -> int:
        spy = _now[-1]
        with spy.watched() as inner:
            original(truth, rungs, epsilon, digits, Steady())
        (chosen,) = [note for note in inner if note.kind == "choose"]
        note = spy.note("ladder", chosen.scale, [int(r) for r in rungs], truth=int(truth),
                        digits=digits)  # fmt: skip
        return int(spy.output(note, int(truth)))

    return call


class Steady:
    """Bits that are all zero."""

    def integer(self, bits: int) -> int:
        """Zero."""
        return 0

    below = integer

    def words(self, n: int) -> Any:
        """Zeros."""
        return np.zeros(n, np.uint64)


def _whole(kind: str) -> Made:
    """A function that returns an exact whole number plus one draw."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> int:
            spy = _now[-1]
            with spy.watched() as inner:
                exact = int(original(*args, **named))
            note = spy.note(kind, inner[0].scale, [exact])
            note.out = [exact]
            return int(spy.output(note, exact))

        return call

    return make


def _smooth(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(values: Any, counts: Any, grid: Any, target: Any, noise: Any, bits: Any = None) -> int:
        spy = _now[-1]
        with spy.watched() as inner:
            exact = int(original(values, counts, grid, target, noise))
        if not inner:  # a grid of one point needs no noise
            return exact
        note = spy.note("smooth", inner[0].scale, [exact], law=inner[0].kind, grid=tuple(grid))
        return int(spy.output(note, exact))

    return call


def _waring(_: Callable[..., Any]) -> Callable[..., Any]:
    def call(scale: Any, bits: Any = None) -> int:
        _now[-1].note("waring", Fraction(scale), [None], lost=True)
        return 0

    return call


SEAMS: dict[str, Made] = {
    "noise.laplace.sample": _sample("laplace"),
    "noise.gaussian.sample": _sample("gaussian"),
    "noise.gaussian.compact": _sample("gaussian"),
    "tables.linear._thinned": _thinned,
    "noise.exponential.choose": _choose,
    "quantiles.quantile.quantile": _quantile,
    "quantiles.value_margin.near": _quantile,
    "quantiles.smooth.smooth_quantile": _smooth,
    "noise.waring.draw": _waring,
    "choices.select.permute_and_flip": _flip,
    "choices.noisy_max.noisy_max": _noisy_max,
    "choices.sparse_vector.above_threshold": _above,
    "choices.threshold_scan.scan": _scan,
    "sealed_noise.select_keys": _select_keys,
    "noise.conditioned.add_conditioned": _conditioned,
    "tables.consistent.choose_table": _table,
    "tables.farthest._by_weight": _weights,
    "tables.root.release_root": _whole("laplace"),
    "graphs.ladder.draw": _ladder,
}
"""Where noise is drawn, and what stands there in its place."""

IMPORTERS = (
    *(f"adomnia.cli.{verb}" for verb in import_module("adomnia.cli.main").VERBS),
    "adomnia.mining.parts.estimator",
    "adomnia.curator.database",
    "adomnia.curator.quality.quality",
    "adomnia.curator.quality.tables_quality",
    "adomnia.curator.quality.column_bounds",
    "adomnia.curator.networks.network",
    "adomnia.curator.releases.release",
    "adomnia.curator.releases.consistent",
    "adomnia.marginals.release",
    "adomnia.marginals.adaptive",
    "adomnia.priors.chi_squared",
)
"""Rooms that are imported late, and hold some of these functions under their own name."""


def spent_in_ledger(database: Any) -> dict[str, Fraction]:
    """What the ledger says was spent of the data, in all."""
    state = database.budget()["data"]
    found = {state["unit"]: Fraction(state["spent"])}
    if "delta_spent" in state:
        found["delta"] = Fraction(state["delta_spent"])
    return found
