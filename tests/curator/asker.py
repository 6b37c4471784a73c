"""A process that asks until it is killed, and writes down every answer it was given."""

from __future__ import annotations

import os
import sys

import adomnia


def main(policy: str, seed: int, count: int, epsilon: str) -> None:
    """Questions of its own, each asked once; a line for each answer, as soon as it is there."""
    with adomnia.open(policy) as database:
        session = database.session(f"analyst {seed}")
        print("ready", flush=True)
        for turn in range(count):
            sql = f"SELECT COUNT(*) FROM people WHERE age > {seed % 90} AND income <> {turn + 5000}"
            try:
                answer = session.ask(sql, epsilon, key=f"{os.getpid()}-{turn}")
                spent = answer.spent["epsilon"]
                sys.stdout.write(f"answered {answer.receipt} {spent} {answer.rows[0][0]}\n")
            except adomnia.BudgetError:
                sys.stdout.write("refused\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
