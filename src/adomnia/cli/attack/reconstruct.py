"""`adomnia attack reconstruct` and `decoding`: a secret column from noisy sums."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from adomnia.cli import findings as attacked
from adomnia.cli import options
from adomnia.curator.database import Database
from adomnia.errors import QuestionError
from adomnia.policy.policy import read_policy
from adomnia.present import formatting, terminal
from adomnia.review.exact_columns import people_of
from adomnia.review.rehearsal import TARGET, made_up, rehearsal, subset_counting

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["decoding", "reconstruct", "through_the_door"]

PEOPLE = 128
MOST_PEOPLE = 2_000


@click.command("reconstruct", short_help="A secret column from many noisy sums of it.")
@click.option("--n", "people", type=click.IntRange(1), metavar="N", help="How many people.")
@click.option("--questions", type=click.IntRange(1), metavar="M", help="At most; 8 a person.")
@click.option("--noise", type=click.FloatRange(0), metavar="E", help="Made-up answers, within ±E.")
@click.option("--fourier", is_flag=True, help="Yekhanin's questions in the place of random ones.")
@click.option("--epsilon", metavar="E", help="Really ask the database, each question for this.")
@click.option("--target", metavar="SQL", help="Of the policy's own data: the secret, a condition.")
@click.option("--people", "column", metavar="COL", help="The column that names each person.")
@click.option("--analyst", metavar="NAME", help="Who asks; the curator where nobody is named.")
@click.option("--spend", is_flag=True, help="Spend the real budget, not that of a copy.")
@attacked.seed
@attacked.limit
@options.policy
@options.form
def reconstruct(form: str, **told: Any) -> None:
    """Ask how many of some people have a secret, many times, and solve for the secret.

    With --noise the answers are made up. With --epsilon the questions are really put to a
    database under the policy's promise, until its budget ends: to a made-up table, or with
    --target to the policy's own data. That spends nothing unless --spend is given: it asks a
    copy of the ledger.

    \b
    Examples:
      adomnia attack reconstruct --n 512 --questions 4096 --noise 5
      adomnia attack reconstruct --epsilon 0.1
      adomnia attack reconstruct --epsilon 0.1 --target "income > 50000" --people person_id
    """
    from adomnia.audit.reconstruction.reconstruct import figures  # noqa: PLC0415 (needs SciPy: slow to import)

    if (told["noise"] is None) == (told["epsilon"] is None):
        raise QuestionError(
            "either --noise or --epsilon",
            "made-up answers, for example --noise 5; or --epsilon 0.1",
        )
    found = _asked(told) if told["noise"] is None else _made_up_answers(told)
    if form == "json":
        extra = ("refused", "spent", "ceiling", "curve")
        more = {key: found.details[key] for key in extra if key in found.details}
        terminal.json_text({**figures(found), **more})
        return
    attacked.tell(found, form)
    if "ceiling" in found.details:
        click.echo(
            f"  nobody can expect more than {found.details['ceiling']:.1%} of fair bits at epsilon "
            f"{formatting.amount(found.details['spent'])} in all"
        )


def _made_up_answers(told: dict[str, Any]) -> Finding:
    from adomnia.audit.reconstruction.hadamard import hadamard  # noqa: PLC0415 (needs SciPy: slow to import)
    from adomnia.audit.reconstruction.subset_sums import subset_sums  # noqa: PLC0415

    for name in ("target", "column", "spend", "analyst"):
        if told[name]:
            option = "people" if name == "column" else name
            raise QuestionError(f"--{option} needs --epsilon", "with --noise nobody is asked")
    n, noise, seed, limit = told["people"] or 512, told["noise"], told["seed"], told["time_limit"]
    with terminal.progress("attacking"):
        if told["fourier"]:
            return hadamard(n, noise, seed, limit)
        if n > MOST_PEOPLE:
            raise QuestionError(f"--n goes up to {MOST_PEOPLE:,}", "or ask with --fourier")
        return subset_sums(n, told["questions"] or 8 * n, noise, seed, limit)


def _asked(told: dict[str, Any]) -> Finding:
    if told["fourier"]:
        raise QuestionError("--fourier needs --noise", "SQL counts people, without signs")
    if told["target"] is None and (told["column"] or told["spend"] or told["analyst"]):
        raise QuestionError(
            "--people, --spend and --analyst need --target", "a made-up table has none of them"
        )
    return through_the_door(
        told["policy"],
        told["epsilon"],
        people=told["people"] or PEOPLE,
        questions=told["questions"],
        target=told["target"],
        column=told["column"],
        spend=told["spend"],
        analyst=told["analyst"],
        seed=told["seed"],
        time_limit=told["time_limit"],
    )


def through_the_door(  # noqa: PLR0913 (what the verb may be told)
    policy: str,
    epsilon: str,
    *,
    people: int = PEOPLE,
    questions: int | None = None,
    target: str | None = None,
    column: str | None = None,
    spend: bool = False,
    analyst: str | None = None,
    seed: int = 0,
    time_limit: float = 60.0,
) -> Finding:
    """Really ask a database for subset sums until it refuses, and score what comes out."""
    from adomnia.audit.reconstruction.reconstruct import ceiling, reconstruct  # noqa: PLC0415 (needs SciPy)

    price = attacked.amount(epsilon)
    if people > MOST_PEOPLE:
        raise QuestionError(f"--n goes up to {MOST_PEOPLE:,}", "attack fewer people")
    with _door(policy, target, column, (people, seed, spend)) as (database, name, who, bits):
        ask = subset_counting(database.session(analyst), price, name, who, target or TARGET)
        found = reconstruct(ask, len(bits), questions, seed, time_limit, bits)
    spent = price * found.details["answered"]
    more = {"spent": str(spent), "ceiling": ceiling(float(min(spent, 700)))}
    return replace(found, details={**found.details, **more})


_Door = tuple[Database, str, list[Any], list[int]]


@contextmanager
def _door(
    policy: str, target: str | None, column: str | None, how: tuple[int, int, bool]
) -> Iterator[_Door]:
    """A database to ask, the column that names people, who they are, and their true bits."""
    people, seed, spend = how
    if target is None:
        bits = _secret(people, seed)
        with made_up(read_policy(policy), bits) as database:
            yield database, "person", list(range(people)), bits
        return
    with rehearsal(policy, spend) as database:
        name = column or database.policy.unit or ""
        yield database, name, *_named(database, name, target, people)


def _named(database: Database, name: str, target: str, people: int) -> tuple[list[Any], list[int]]:
    if not name:
        hint = "for example --people person_id; without --target a made-up table is attacked"
        raise QuestionError("say which column names each person", hint)
    who, bits = people_of(database.desk, name, target, people)
    if len(who) < 2:
        raise QuestionError(
            f"{name!r} names fewer than two people",
            "a column whose values are all different is needed: --people COL",
        )
    return who, bits


def _secret(people: int, seed: int) -> list[int]:
    import numpy as np  # noqa: PLC0415 (with SciPy below)

    from adomnia.audit.reconstruction.subset_sums import balanced_secret  # noqa: PLC0415 (needs SciPy)

    return [int(bit) for bit in balanced_secret(people, np.random.default_rng(seed))]


@click.command("decoding", short_help="A secret column although some answers are arbitrary.")
@click.option(
    "--n", "people", type=click.IntRange(1, MOST_PEOPLE), default=64, show_default=True,
    metavar="N", help="How many people.",
)  # fmt: skip
@click.option("--ratio", type=click.FloatRange(0.1, 100), default=10.0, show_default=True,
              metavar="R", help="Questions for each person.")  # fmt: skip
@click.option("--rho", default="0.1,0.15,0.2,0.22,0.25,0.3", show_default=True, metavar="R,R,…",
              help="Shares of the answers that are arbitrary.")  # fmt: skip
@click.option("--signs", is_flag=True, help="Questions of ±1 in the place of normal ones.")
@click.option("--noise", type=click.FloatRange(0), default=0.0, show_default=True, metavar="E",
              help="The other answers are within ±E.")  # fmt: skip
@attacked.trials(10)
@attacked.seed
@attacked.limit
@options.policy_unused
@options.form
def decoding(people: int, ratio: float, rho: str, form: str, **how: Any) -> None:
    """Decode a made-up secret column while a share rho of the answers is arbitrary.

    Random errors are corrected at any share tried; an adversary's only up to about 0.239.

    \b
    Examples:
      adomnia attack decoding
      adomnia attack decoding --rho 0.2,0.25 --n 128 --ratio 20
    """
    from adomnia.audit.reconstruction.decoding import Channel, decoding_curve  # noqa: PLC0415 (needs SciPy)

    shares = attacked.numbers(rho, "--rho")
    questions = "signs" if how.pop("signs") else "gaussian"
    channel = Channel(people, ratio, questions, noise=how.pop("noise"))  # type: ignore[arg-type]
    with terminal.progress("attacking"):
        found = decoding_curve(channel, shares, **how)
    if form == "json":
        attacked.tell(found, form)
        return
    rows = [
        (f"{row['rho']:g}", row["errors"], f"{row['whole']:.0%}", f"{row['recovered']:.1%}")
        for row in found.details["curve"]
    ]
    headings = ["arbitrary share", "by", "whole column came back", "bits right"]
    terminal.console().print(terminal.table(headings, rows, [0, 2, 3]))
    attacked.tell(found, form)
