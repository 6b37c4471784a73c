"""Failed log-ins are slowed down: by name, by address, and without filling the memory."""

from __future__ import annotations

from adomnia.server import limits as module
from adomnia.server.limits import Limits


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_name_may_fail_so_often_in_a_window() -> None:
    clock = Clock()
    limits = Limits(by_name=3, by_address=100, seconds=60, clock=clock)
    for second in range(3):
        assert limits.allowed("alice", f"10.0.0.{second}") == 0.0
        clock.now = float(second)
        limits.failed("alice", f"10.0.0.{second}")
    assert limits.allowed("alice", "10.0.0.9") == 58.0
    assert limits.allowed("bob", "10.0.0.9") == 0.0
    clock.now = 60.5  # the first failure is past, the others are not
    assert limits.allowed("alice", "10.0.0.9") == 0.0
    limits.failed("alice", "10.0.0.9")
    assert limits.allowed("alice", "10.0.0.9") == 0.5


def test_an_address_may_fail_so_often_whatever_the_names() -> None:
    limits = Limits(by_name=3, by_address=10, seconds=60, clock=Clock())
    for number in range(10):
        limits.failed(f"name {number}", "10.0.0.1")
    assert limits.allowed("alice", "10.0.0.1") == 60.0
    assert limits.allowed("alice", "10.0.0.2") == 0.0


def test_who_comes_in_clears_their_name_but_not_their_address() -> None:
    limits = Limits(by_name=2, by_address=3, seconds=60, clock=Clock())
    limits.failed("alice", "a")
    limits.failed("alice", "b")
    assert limits.allowed("alice", "c") > 0
    limits.passed("alice", "c")
    assert limits.allowed("alice", "c") == 0.0
    for _ in range(3):
        limits.failed("bob", "d")
        limits.passed("mallory", "d")
    assert limits.allowed("mallory", "d") > 0


def test_failures_without_a_name_count_for_the_address_alone() -> None:
    limits = Limits(by_name=1, by_address=2, seconds=60, clock=Clock())
    limits.failed("", "a")
    assert limits.allowed("", "b") == 0.0
    limits.failed("", "a")
    assert limits.allowed("", "a") > 0


def test_a_flood_of_names_does_not_fill_the_memory() -> None:
    clock = Clock()
    limits = Limits(seconds=1e9, clock=clock)
    for number in range(module.MOST_KNOWN):
        clock.now = float(number)
        limits.failed(f"name {number}", f"address {number}")
    assert len(limits._failures) <= module.MOST_KNOWN + 2
    assert ("name", f"name {module.MOST_KNOWN - 1}") in limits._failures
