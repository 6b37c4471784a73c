"""Failed log-ins are refused where they come from, slowed down elsewhere, and fill no memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from lodge import SECRETS, Lodge, lodging

from adomnia.server import login_limits as module
from adomnia.server.accounts import UnauthenticatedError
from adomnia.server.login_limits import LoginLimits, TooManyError
from adomnia.server.service import Service

HOME, ELSEWHERE = "192.0.2.1", "198.51.100.7"


class Clock:
    """A clock that goes on when somebody pauses."""

    def __init__(self) -> None:
        self.now, self.pauses = 0.0, list[float]()

    def __call__(self) -> float:
        return self.now

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture(scope="module")
def lodge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lodge]:
    with lodging(tmp_path_factory.mktemp("limits")) as made:
        yield made


def guessed(limits: LoginLimits, clock: Clock, places: int, seconds: float) -> None:
    """Wrong secrets of alice from so many places, evenly over some seconds."""
    for number in range(places):
        limits.failed("alice", f"10.0.{number // 200}.{number % 200}")
        clock.now += seconds / places


# Refusing


def test_a_name_may_fail_so_often_from_one_address() -> None:
    clock = Clock()
    limits = LoginLimits(by_both=3, by_address=100, seconds=60, clock=clock)
    for second in range(3):
        assert limits.allowed("alice", HOME) == 0.0
        clock.now = float(second)
        limits.failed("alice", HOME)
    assert limits.allowed("alice", HOME) == 58.0
    assert limits.allowed("bob", HOME) == 0.0
    clock.now = 60.5  # the first failure is past, the others are not
    assert limits.allowed("alice", HOME) == 0.0
    limits.failed("alice", HOME)
    assert limits.allowed("alice", HOME) == 0.5


def test_nobody_is_locked_out_from_elsewhere() -> None:
    clock = Clock()
    limits = LoginLimits(clock=clock)
    for _ in range(1000):
        limits.failed("alice", ELSEWHERE)
    guessed(limits, clock, 1000, 10)
    assert limits.allowed("alice", ELSEWHERE) > 0
    assert limits.allowed("alice", HOME) == 0.0


def test_an_address_may_fail_so_often_whatever_the_names() -> None:
    limits = LoginLimits(by_both=3, by_address=10, seconds=60, clock=Clock())
    for number in range(10):
        limits.failed(f"name {number}", "10.0.0.1")
    assert limits.allowed("alice", "10.0.0.1") == 60.0
    assert limits.allowed("alice", "10.0.0.2") == 0.0


def test_who_comes_in_clears_their_name_there_but_not_the_address() -> None:
    limits = LoginLimits(by_both=2, by_address=5, seconds=60, clock=Clock())
    for place in (HOME, HOME, ELSEWHERE, ELSEWHERE):
        limits.failed("alice", place)
    limits.passed("alice", HOME)
    assert limits.allowed("alice", HOME) == 0.0
    assert limits.allowed("alice", ELSEWHERE) > 0
    for _ in range(5):
        limits.failed("bob", ELSEWHERE)
        limits.passed("mallory", ELSEWHERE)
    assert limits.allowed("mallory", ELSEWHERE) > 0


def test_failures_without_a_name_count_for_the_address_alone() -> None:
    limits = LoginLimits(by_both=1, by_address=2, by_name=1, seconds=60, clock=Clock())
    limits.failed("", "a")
    assert limits.allowed("", "a") == limits.delay("", "b") == 0.0
    limits.failed("", "a")
    assert limits.allowed("", "a") > 0
    limits.passed("", "a")
    assert limits.allowed("", "a") > 0


# Slowing down


def test_guesses_from_many_places_are_slowed_down_the_more_the_faster_they_come() -> None:
    clock = Clock()
    limits = LoginLimits(by_name=30, seconds=60, clock=clock)
    guessed(limits, clock, 29, 1)
    assert limits.delay("alice", HOME) == 0.0
    guessed(limits, clock, 30, 30)
    assert limits.delay("alice", HOME) == pytest.approx(2.0)
    guessed(limits, clock, 30, 0.001)
    assert limits.delay("alice", HOME) == module.SLOWEST
    assert limits.delay("bob", HOME) == 0.0
    clock.now += 61
    assert limits.delay("alice", HOME) == 0.0


def test_all_at_one_moment_is_the_slowest_and_no_division_by_zero() -> None:
    limits = LoginLimits(by_name=3, clock=Clock())
    guessed(limits, Clock(), 3, 0)
    assert limits.delay("alice", HOME) == module.SLOWEST


def test_where_somebody_has_come_in_they_are_not_slowed_down_for_a_day() -> None:
    clock = Clock()
    limits = LoginLimits(by_name=3, clock=clock)
    limits.passed("alice", "2001:db8::1")
    clock.now = module.DAY - 1
    guessed(limits, clock, 3, 0.0)
    assert limits.delay("alice", "2001:db8::2") == 0.0  # the same network
    assert limits.delay("alice", "2001:db8:1::1") > 0
    limits.passed("alice", HOME)
    assert limits.delay("alice", ELSEWHERE) > 0  # it is guessed no faster for that
    clock.now += 2
    assert limits.delay("alice", "2001:db8::1") > 0


# Memory


def test_a_flood_of_names_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KNOWN", 100)
    clock = Clock()
    limits = LoginLimits(seconds=1e9, clock=clock)
    for number in range(1000):
        clock.now = float(number)
        limits.failed(f"name {number}", f"address {number}")
        limits.passed(f"name {number}", f"another address {number}")
    kept = (limits._both, limits._addresses, limits._names, limits._welcome)
    assert all(50 <= len(window) <= 100 for window in kept)
    assert limits._names._times["name 999"][0] == 999.0


def test_a_flood_of_names_does_not_make_an_address_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_KNOWN", 10)
    limits = LoginLimits(by_address=60, clock=Clock())
    for number in range(60):
        limits.failed(f"name {number}", ELSEWHERE)
    assert limits.allowed("alice", ELSEWHERE) > 0


# In the service


def log_in(service: Service, secret: str, address: str) -> str:
    """How a log-in of alice ends."""
    try:
        return asyncio.run(service.log_in("alice", secret, address)).name
    except (UnauthenticatedError, TooManyError) as error:
        return type(error).__name__


def test_the_owner_comes_in_while_others_guess(lodge: Lodge) -> None:
    clock = Clock()
    limits = LoginLimits(by_name=30, clock=clock)
    service = Service(lodge.database, lodge.accounts, limits, clock.pause)
    found = [log_in(service, "a guess of theirs", ELSEWHERE) for _ in range(6)]
    assert found == ["UnauthenticatedError"] * 5 + ["TooManyError"]
    guessed(limits, clock, 30, 15)
    assert clock.pauses == []
    assert log_in(service, SECRETS["alice"], HOME) == "alice"  # a little later, and never refused
    assert clock.pauses == [pytest.approx(4.0)]
    assert log_in(service, SECRETS["alice"], HOME) == "alice"
    assert len(clock.pauses) == 1
    assert log_in(service, "a guess of theirs", "203.0.113.5") == "UnauthenticatedError"
    assert len(clock.pauses) == 2


def test_what_is_remembered_answers_no_guesses(lodge: Lodge) -> None:
    """A right secret, past the limit, is refused as a wrong one is: both look alike."""
    service = Service(lodge.database, lodge.accounts, LoginLimits(by_both=2, clock=Clock()))
    assert log_in(service, SECRETS["alice"], HOME) == "alice"
    assert [log_in(service, "wrong", ELSEWHERE) for _ in range(2)] == ["UnauthenticatedError"] * 2
    assert log_in(service, SECRETS["alice"], ELSEWHERE) == "TooManyError"
    assert log_in(service, SECRETS["alice"], HOME) == "alice"


def test_a_right_key_waits_for_nobody(lodge: Lodge) -> None:
    clock = Clock()
    limits = LoginLimits(by_address=3, by_name=3, clock=clock)
    service = Service(lodge.database, lodge.accounts, limits, clock.pause)
    key = lodge.accounts.make_key("alice")
    for _ in range(10):
        limits.failed("alice", HOME)
    assert asyncio.run(service.log_in_by_key(key, HOME)).name == "alice"
    assert log_in(service, SECRETS["alice"], HOME) == "TooManyError"
    assert clock.pauses == []
