"""A process that asks until it is killed or all is calm, and writes down what it is answered."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import adomnia


def main(policy: str, seed: int, count: int, epsilon: str) -> None:
    """Questions of its own, each asked once; a line for each answer, as soon as it is there."""
    parent = os.getppid()
    with adomnia.open(policy) as database:
        session = database.session(f"analyst {seed}")
        print("ready", flush=True)
        for turn in range(count):
            sql = f"SELECT COUNT(*) FROM people WHERE age > {seed % 90} AND income >= {turn}"
            try:
                answer = session.ask(sql, epsilon, key=f"{os.getpid()}-{turn}")
                spent = answer.spent["epsilon"]
                sys.stdout.write(f"answered {answer.receipt} {spent} {answer.rows[0][0]}\n")
            except adomnia.BudgetError:
                sys.stdout.write("refused\n")
            sys.stdout.flush()
    while os.getppid() == parent and not Path(policy).with_name("calm").exists():
        time.sleep(0.01)  # so that whoever is chosen to be killed is there, on any machine


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
