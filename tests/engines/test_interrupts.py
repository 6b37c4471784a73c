"""Interrupts: what runs is told to end until it has, and nothing begins after that."""

from __future__ import annotations

import threading

import pytest

from adomnia.engines.interrupts import Interrupts, interruptible, watched
from adomnia.errors import CancelledError


def test_a_statement_that_missed_its_end_is_told_again():
    told, again = [], threading.Event()

    def stop():
        told.append(None)
        if len(told) > 2:
            again.set()

    interrupts = Interrupts()
    with watched(interrupts), interruptible(stop):
        interrupts.interrupt()
        assert again.wait(60)
    told_by_then = len(told)
    interrupts.interrupt()
    assert len(told) == told_by_then  # it has let go
    assert interrupts.ended


def test_nothing_begins_once_it_is_ended():
    interrupts = Interrupts()
    interrupts.interrupt()
    with pytest.raises(CancelledError), watched(interrupts), interruptible(lambda: None):
        raise AssertionError("it began")


def test_a_failing_stop_does_not_keep_others_from_theirs():
    other = threading.Event()
    interrupts = Interrupts()
    with interrupts.running(lambda: 1 / 0), interrupts.running(other.set):
        interrupts.interrupt()
        assert other.is_set()
