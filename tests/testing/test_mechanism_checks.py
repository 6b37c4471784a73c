"""The laws of mechanisms find each kind that breaks one, and let a good one pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from adomnia.mechanisms.outside import MechanismRequest
from adomnia.mechanisms.sealed_noise import add_gaussian, add_laplace
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.contribution import Bernstein, Clamped, DistinctValues, Tally
from adomnia.privacy.events import Laplace, Outside
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.reads import CellTotals, KeyTotals
from adomnia.queries.operations import call, constant
from adomnia.testing.mechanisms import BrokenLawError, check_mechanism, neighbouring_reads


@dataclass(frozen=True)
class NoisyCounts:
    """Counts of rows, by sex: a good mechanism."""

    reads: Any
    event: Any
    narrower: int = 1

    def release(self, sealed: Any, bits: Any) -> Any:
        scale = self.event.sensitivity / self.event.epsilon / self.narrower
        return add_laplace(sealed, scale, bits).tolist()


def noisy_counts(request: MechanismRequest, **changed: Any) -> NoisyCounts:
    reads = CellTotals(Tally((None,)), None, (request.column("sex"),))
    event = Outside(request.epsilon, request.apart(reads).l1)
    return replace(NoisyCounts(reads, event), **changed)


def check(make: Any, **more: Any) -> None:
    check_mechanism(make, {}, **more)


def test_a_good_one_passes_and_so_does_one_with_a_rho() -> None:
    check(noisy_counts)

    @dataclass(frozen=True)
    class Gaussian(NoisyCounts):
        def release(self, sealed: Any, bits: Any) -> Any:
            variance = self.event.sensitivity**2 / (2 * self.event.rho)
            return add_gaussian(sealed, variance, bits).tolist()

    def gaussian(request: MechanismRequest) -> Gaussian:
        good = replace(request, loss=Loss.pure(Fraction(1)))
        reads = noisy_counts(good).reads
        return Gaussian(reads, Outside(Fraction(0), request.apart(reads).l1, rho=request.loss.rho))

    check(gaussian, loss=Loss.concentrated(Fraction(1, 2)))
    with pytest.raises(BrokenLawError, match="costs an epsilon"):
        check(noisy_counts, loss=Loss.concentrated(Fraction(1, 2)))


def test_noise_that_is_narrower_than_paid_for_is_found() -> None:
    with pytest.raises(BrokenLawError, match="tell neighbours apart by an epsilon of"):
        check(lambda request: noisy_counts(request, narrower=3))


def test_noise_for_rows_that_come_where_they_change_is_found() -> None:
    """The event is for the right distance, and the noise is not: a changed row is in two cells."""

    def forgetful(request: MechanismRequest) -> NoisyCounts:
        changes = request.neighbors.replaces and request.neighbors.rows is None
        return noisy_counts(request, narrower=3 if changes else 1)

    with pytest.raises(BrokenLawError, match="tell neighbours apart"):
        check(forgetful)


def test_an_event_for_too_small_a_distance_is_found() -> None:
    def cheap(request: MechanismRequest) -> NoisyCounts:
        return noisy_counts(request, event=Outside(request.epsilon, Fraction(1)))

    with pytest.raises(BrokenLawError, match="priced for a distance of 1, and it is 2"):
        check(cheap)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Outside(Fraction(0), Fraction(99)), "costs nothing"),
        (Outside(Fraction(2), Fraction(99)), "more epsilon than was offered"),
        (Outside(Fraction(1), Fraction(99), Fraction(1, 9)), "more delta than was offered"),
        (Outside(Fraction(-1), Fraction(99)), "exact amounts"),
        (Outside(0.5, Fraction(99)), "exact amounts"),  # type: ignore[arg-type]
        (Laplace(Fraction(1), Fraction(99)), "no `events.Outside`"),
        (None, "no `events.Outside`"),
    ],
)
def test_events_that_are_none_are_found(event: Any, said: str) -> None:
    with pytest.raises(BrokenLawError, match=said):
        check(lambda request: noisy_counts(request, event=event))


def test_what_may_not_be_read_is_found() -> None:
    def reading(change: Any) -> Any:
        return lambda request: noisy_counts(
            request, reads=change(noisy_counts(request).reads, request)
        )

    for change in (
        lambda reads, request: KeyTotals((reads.contribution,), None, reads.keys),
        lambda reads, request: replace(reads, most=5),
        lambda reads, request: replace(reads, grouping=0),
        lambda reads, request: None,
    ):
        with pytest.raises(BrokenLawError, match="may not"):
            check(reading(change))
    with pytest.raises(BrokenLawError, match="too many cells"):
        check(reading(lambda reads, request: replace(reads, keys=(request.column("income"),) * 2)))


@pytest.mark.parametrize("released", [float("nan"), {1, 2}, b"x", Fraction(1, 2)])
def test_releases_that_are_not_plain_are_found(released: Any) -> None:
    @dataclass(frozen=True)
    class Odd(NoisyCounts):
        def release(self, sealed: Any, bits: Any) -> Any:
            return released

    def odd(request: MechanismRequest) -> Odd:
        return Odd(**vars(noisy_counts(request)))

    with pytest.raises(BrokenLawError, match="it failed"):
        check(odd)


def test_failing_on_some_data_is_found() -> None:
    @dataclass(frozen=True)
    class Dividing(NoisyCounts):
        def release(self, sealed: Any, bits: Any) -> Any:
            return 1 // int(unseal(sealed).sum())

    def dividing(request: MechanismRequest) -> Dividing:
        return Dividing(**vars(noisy_counts(request)))

    with pytest.raises(BrokenLawError, match="it failed"):
        check(dividing)


def test_what_is_said_otherwise_each_time_is_found() -> None:
    times = iter(range(1, 10**6))

    def moody(request: MechanismRequest) -> NoisyCounts:
        far = request.apart(noisy_counts(request).reads).l1
        return noisy_counts(request, event=Outside(request.epsilon, far + next(times)))

    with pytest.raises(BrokenLawError, match="another record"):
        check(moody)


def test_neighbours_are_as_far_apart_as_is_said_and_no_further(town_request: Any) -> None:
    """The pairs that are tried are neighbours, and some are as far apart as there are."""
    age, sex = (town_request().column(name) for name in ("age", "sex"))
    adult = call("ge", age, constant(18, Fraction(1)))
    for added in (
        Tally((None,)),
        Tally((None, adult)),
        Tally((adult,), ((True,), (False,))),
        Clamped(age, 3, 90),
        Clamped(age, 3, 90, always=True),
        Clamped(age, -5, 90),
        Bernstein(age, 0, 10, 2),
        DistinctValues(age),
    ):
        for keys in ((), (sex,)):
            reads = CellTotals(added, None, keys)
            for relation in ("unbounded", "bounded"):
                request = town_request(relation)
                pairs = list(neighbouring_reads(reads, request))
                far = max(int(abs(one - other).sum()) for one, other in pairs)
                most = request.apart(reads).l1
                assert far <= most, (added, keys, relation)
                if not (isinstance(added, Tally | DistinctValues)):
                    assert 2 * far >= most


@pytest.fixture
def town_request() -> Any:
    from adomnia.testing.worlds import town

    with town(rows=5).open() as database:
        table = database.table

    def make(relation: str = "unbounded") -> MechanismRequest:
        return MechanismRequest(table, Neighbors(relation), Loss.pure(Fraction(1)))

    return make
