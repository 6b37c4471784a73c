"""The group of attacks: each verb takes what was published, or asks, and tells a finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from adomnia.audit.attack import Attack, Option, options_of
from adomnia.audit.registry import attack_named, registered
from adomnia.cli import options
from adomnia.cli.attack.averaging import averaging
from adomnia.cli.attack.decoding import decoding
from adomnia.cli.attack.inference import inference
from adomnia.cli.attack.intersection import intersection
from adomnia.cli.attack.linkage import linkage
from adomnia.cli.attack.membership import membership
from adomnia.cli.attack.microdata import microdata
from adomnia.cli.attack.network import network
from adomnia.cli.attack.prior import prior
from adomnia.cli.attack.ratings import ratings
from adomnia.cli.attack.reconstruct import reconstruct
from adomnia.cli.attack.singling_out import singling_out
from adomnia.cli.attack.tracker import tracker
from adomnia.cli.attack.uniqueness import uniqueness
from adomnia.errors import AdomniaError, QuestionError
from adomnia.formatting import one_line
from adomnia.present import findings, terminal

__all__ = ["AttackGroup", "attack"]

# Attacks that other packages registered, as verbs: their options are those of the attack.


class AttackGroup(click.Group):
    """The verbs of our own attacks, and one for each that a package registered."""

    def list_commands(self, context: click.Context) -> list[str]:
        """The names of all attacks."""
        return [*super().list_commands(context), *registered()]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The verb of this name; one that cannot be loaded says so when it is run."""
        own = super().get_command(context, name)
        if own is not None or name not in registered():
            return own
        try:
            return _verb(name, attack_named(name))
        except AdomniaError as error:
            return _broken(name, error)


def _verb(name: str, attack: type[Attack[Any]]) -> click.Command:
    def run(files: Sequence[str], form: str, **given: Any) -> None:
        read = getattr(attack, "read", None)
        if read is None:
            raise QuestionError(
                f"{name!r} reads no files", "run it from Python: adomnia.audit.attack_named"
            )
        published = _read(name, read, files)
        with terminal.progress("attacking"):
            found = attack(**given).run(published)
        findings.tell(found, form, bool(given.get("names")))

    verb: Callable[..., Any] = options.policy_unused(options.form(run))
    for one in reversed(options_of(attack)):
        verb = _option(one)(verb)
    verb = click.argument("files", nargs=-1, required=True)(verb)
    return click.command(name, short_help=attack.sentence, help=attack.__doc__)(verb)


def _read(name: str, read: Callable[[Sequence[str]], Any], files: Sequence[str]) -> Any:
    """What was published, by the package's own reader; it is public, so what is wrong is told."""
    try:
        return read(files)
    except AdomniaError:
        raise
    except OSError as error:
        wrong = one_line(f"{error.filename or files[0]}: {error.strerror}", 200)
        raise QuestionError(f"{name!r} cannot read {wrong}", "name a file that is there") from None
    except Exception as error:
        wrong = one_line(f"{type(error).__name__}: {error}", 200)
        raise QuestionError(
            f"{name!r} cannot read what is in these files ({wrong})",
            "its documentation says in what form they come",
        ) from None


def _option(one: Option) -> Callable[..., Any]:
    flag = "--" + one.name.replace("_", "-")
    if one.kind is bool:
        return click.option(flag, one.name, is_flag=True, default=one.default, help=one.about)
    kinds: dict[type, Any] = {
        int: click.IntRange(_whole(one.low), _whole(one.high)),
        float: click.FloatRange(one.low, one.high),
        str: click.Choice(one.choices) if one.choices else click.STRING,
    }
    return click.option(
        flag, one.name, type=kinds[one.kind], default=one.default, required=one.required,
        show_default=one.default is not None, help=one.about,
    )  # fmt: skip


def _whole(bound: float | None) -> int | None:
    return None if bound is None else int(bound)


def _broken(name: str, error: AdomniaError) -> click.Command:
    def run(**_: Any) -> None:
        raise error

    return click.command(name, short_help=error.message)(run)


@click.group(cls=AttackGroup, short_help="One attack by name: reconstruct, linkage, prior, ….")
def attack() -> None:
    """Run one attack and see in numbers what it learns, against knowing nothing.

    Attacks of other packages are listed, too, where they are installed.
    """


for _own in (
    reconstruct,
    decoding,
    averaging,
    tracker,
    microdata,
    uniqueness,
    linkage,
    intersection,
    ratings,
    singling_out,
    inference,
    membership,
    network,
    prior,
):
    attack.add_command(_own)
