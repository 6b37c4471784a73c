"""The page of the policy: what is promised in plain words, what is not, and what may be asked."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from adomnia.present.promise import promise_text
from adomnia.server.console.views.listings import keys_picture, listings

if TYPE_CHECKING:
    from adomnia.server.accounts import Person
    from adomnia.server.console.console import PageContext
    from adomnia.server.service import Service

__all__ = ["show"]

PROTECTED = (
    "Somebody who knows everything about everybody else, and wants to know one person's secret.",
    "Somebody who asks many questions and subtracts, averages or combines the answers: all of "
    "them together stay within the budget.",
    "Several analysts who put their answers together: the data's budget counts everybody.",
    "Whatever is done with an answer later, with any other data and any computer.",
    "A question that is made so that its answer gives somebody away: the noise fits the question.",
)
"""What the promise holds against, whoever asks."""

UNPROTECTED = (
    "What is true of a group is true of its members: that people with one job earn little is a "
    "statistic, and shown.",
    "What is known otherwise, or was published exactly before, stays known.",
    "Somebody who can read the data's file, write the ledger or change this program.",
    "How long an answer takes, and how much memory: that is not hidden.",
    "Domains that were taken from the data and confirmed unread.",
)
"""What it does not hold against."""


async def show(context: PageContext) -> Response:
    """The promise; for a curator also the file's text and what is spent."""
    return await context.page(
        "policy.html", **await context.service.run(_facts, context.service, context.person)
    )


def _facts(service: Service, person: Person) -> dict[str, Any]:
    policy = service.database.policy
    released = len(service.database.account().priors)
    if person.is_curator:
        promise = promise_text(policy, service.database.budget()["data"]["spent"], released)
    else:  # neither how many others there are nor what they have spent
        promise = promise_text(replace(policy, analysts={}), released=released)
    return {
        "promise": promise,
        "protected": PROTECTED,
        "unprotected": UNPROTECTED,
        "listings": listings(service.database),
        "keys": keys_picture(service.database),
        "tables": list(service.database.tables),
        "file": policy.file.name,
        "text": _without_secrets(policy.file.read_text("utf-8")) if person.is_curator else "",
    }


def _without_secrets(text: str) -> str:
    """The file without the passwords of the addresses in it.

    An address is taken to reach to the end of its line: rather too much is hidden than too little.
    """
    return re.sub(r"(\w://)(.+)", lambda found: found[1] + _shown(found[2]), text)


def _shown(address: str) -> str:
    """A name before the last @ is shown, and of what follows ? the parts that are no secret."""
    who, at, rest = address.rpartition("@")
    name = re.match(r"[\w.+-]*", who)
    assert name is not None
    hidden = at if name[0] == who else f":…{at}"
    place, mark, query = rest.partition("?")
    return name[0] + hidden + place + mark + "&".join(map(_part, query.split("&")))


def _part(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return pair if name in ("", "ledger", "sslmode") else f"{name}=…" if equals else "…"
