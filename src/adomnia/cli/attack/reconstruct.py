"""`adomnia attack reconstruct`: a secret column from noisy sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.cli.attack import asked
from adomnia.errors import QuestionError
from adomnia.policy.policy import read_policy
from adomnia.present import findings, terminal
from adomnia.review.attacks import MOST_PEOPLE, PEOPLE, Sums, attack_made_up, attack_sums

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["reconstruct"]


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
@options.seed
@options.limit
@options.view
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
    from adomnia.audit.reconstruction.reconstruct import figures  # noqa: PLC0415 (needs SciPy)

    if (told["noise"] is None) == (told["epsilon"] is None):
        raise QuestionError(
            "either --noise or --epsilon",
            "made-up answers, for example --noise 5; or --epsilon 0.1",
        )
    found = _asked(told) if told["noise"] is None else _simulated(told)
    if form == "json":
        extra = ("refused", "spent", "ceiling", "curve")
        more = {key: found.details[key] for key in extra if key in found.details}
        terminal.json_text({**figures(found), **more})
        return
    findings.tell(found, form)
    if "ceiling" in found.details:
        click.echo(
            f"  nobody can expect more than {found.details['ceiling']:.1%} of fair bits at epsilon "
            f"{formatting.amount(found.details['spent'])} in all"
        )


def _simulated(told: dict[str, Any]) -> Finding:
    from adomnia.audit.reconstruction.hadamard import hadamard  # noqa: PLC0415 (needs SciPy: slow)
    from adomnia.audit.reconstruction.subset_sums import subset_sums  # noqa: PLC0415

    for name in ("target", "column", "spend", "analyst", "view"):
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
    people, price = told["people"] or PEOPLE, options.amount(told["epsilon"])
    sums = Sums(price, people, told["questions"], told["seed"], told["time_limit"])
    if told["target"] is not None:
        with asked.attacked(told["policy"], told["spend"], told["view"]) as database:
            return attack_sums(database, sums, told["target"], told["column"], told["analyst"])
    if any(told[name] for name in ("column", "spend", "analyst", "view")):
        raise QuestionError(
            "--people, --spend, --analyst and --view need --target",
            "a made-up table has none of them",
        )
    return attack_made_up(read_policy(told["policy"]), sums)
