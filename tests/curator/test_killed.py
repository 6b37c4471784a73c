"""Eight processes ask one ledger and are killed at random: no budget is passed, none is lost."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest
from town import Town

from adomnia.ledger.entry import receipt

ASKER = Path(__file__).with_name("asker.py")


@dataclass
class Storm:
    """Processes that ask, restarted when they were killed, and what they were told."""

    policy: Path
    folder: Path
    requests: int
    epsilon: str
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    outputs: list[Path] = field(default_factory=list)

    def start(self) -> None:
        """One more process; its words go to a file that outlives it."""
        seed = len(self.outputs)
        output = self.folder / f"said {seed}"
        self.outputs.append(output)
        command = [sys.executable, str(ASKER), str(self.policy), str(seed), str(self.requests)]
        with output.open("wb") as target:
            self.running.append(subprocess.Popen([*command, self.epsilon], stdout=target))

    def rage(self, kills: int) -> None:
        """Kill so many at random moments, and start another one for each."""
        for _ in range(8):
            self.start()
        while kills:
            time.sleep(self.chance.uniform(0.01, 0.15))
            working = [i for i, p in enumerate(self.running) if p.poll() is None]
            assert working
            if ready := [i for i in working if self.outputs[i].stat().st_size > 20]:
                victim = self.running[self.chance.choice(ready)]
                victim.kill()
                victim.wait()
                kills -= 1
                self.start()
        (self.folder / "calm").touch()
        for process in self.running:
            process.wait(timeout=300)

    def answers(self) -> dict[str, Fraction]:
        """What was answered, by receipt; a line that was cut off in the middle was not."""
        found = {}
        for output in self.outputs:
            for line in output.read_text().split("\n")[:-1]:
                words = line.split()
                if words[0] == "answered":
                    found[words[1]] = Fraction(words[2])
        return found


def weather(town: Town, requests: int, kills: int, budget: int, epsilon: str) -> None:
    town.open(f"epsilon = {budget}").close()
    storm = Storm(town.folder / "adomnia.toml", town.folder, requests // 8, epsilon)
    storm.rage(kills)
    told = storm.answers()
    database = town.open(f"epsilon = {budget}")
    entries = database.ledger()
    reserved = {receipt(entry) for entry in entries if entry.kind == "reserved"}
    answered = {entry.head["receipt"] for entry in entries if entry.kind == "answered"}
    assert sum(told.values()) <= budget
    assert set(told) <= answered <= reserved
    total = Fraction(database.budget()["data"]["spent"])
    assert sum(told.values()) <= total <= budget
    assert total == len(reserved) * Fraction(epsilon)
    assert total > budget - Fraction(epsilon) or len(told) >= requests // 2
    assert database.verify().ok
    assert sum(process.returncode == -9 for process in storm.running) == kills


def test_two_hundred_requests_and_some_kills(town: Town) -> None:
    weather(town, requests=200, kills=6, budget=10, epsilon="1/16")


@pytest.mark.slow
def test_two_thousand_requests_and_fifty_kills(town: Town) -> None:
    weather(town, requests=2000, kills=50, budget=100, epsilon="1/16")
