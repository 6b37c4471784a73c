"""The page to ask on: a statement, what it may cost, and what is expected of the answer."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse

from adomnia import formatting
from adomnia.errors import AdomniaError, QuestionError
from adomnia.present.budget_gauge import currency
from adomnia.server.console.console import PageContext
from adomnia.server.console.jobs import Job
from adomnia.server.console.ledger_lines import asker, lines, visible
from adomnia.server.console.views import answers
from adomnia.server.console.views.expectation import Expectation, expected
from adomnia.server.console.views.listings import examples, listings
from adomnia.server.console.views.pointer import pointer

if TYPE_CHECKING:
    from adomnia.curator.answers.answer import Answer
    from adomnia.server.accounts import Person
    from adomnia.server.service import Service

__all__ = ["asked", "cancel", "events", "plan", "show", "submit"]

RECENT = 5
CONFIDENCES = ("0.9", "0.95", "0.99")


async def show(context: PageContext) -> Response:
    """The empty page, or with a statement from elsewhere in it."""
    return await _page(context, {"sql": context.request.query_params.get("sql", "")[:20_000]})


async def submit(context: PageContext) -> Response:
    """Ask. A script is told where to look; a plain form waits here until there is an outcome."""
    sql, said = _sql(context), _said(context)
    key = _key(context.form.get("key", ""), sql, said)
    job = context.console.jobs.start(context.person, key, sql, said)
    at = f"/asked/{key}"
    if context.wants_json:
        return JSONResponse({"at": at}, 202)
    await job.ended()
    return RedirectResponse(at, 303)


async def asked(context: PageContext) -> Response:
    """Where a question has got to: its answer's page, why there is none, or that it still runs."""
    key = context.request.path_params["key"]
    job = context.console.jobs.find(context.person, key)
    if job is None:
        return await _remembered(context, key)
    if job.error is not None:
        return await _page(context, _as_form(job), error=job.error)
    if job.answer is None:
        return await context.page("running.html", job=job)
    if await context.service.run(_is_told_again, context, key, job.answer):
        return await answers.show_again(context, job.sql, job.answer)
    return RedirectResponse(f"/answers/{job.answer.receipt}", 303)


def _is_told_again(context: PageContext, key: str, answer: Answer) -> bool:
    """Whether the answer follows from what another request has paid: it has no page of its own."""
    account = context.service.database.account()
    paid, own = account.use(answer.receipt), account.find(asker(context.person), key)
    is_free = not any(answer.spent.values())
    if paid is None:
        return is_free  # it is the same whatever the data: nobody paid
    return is_free and bool(paid.loss.amounts) and own is not paid


async def events(context: PageContext) -> Response:
    """The stages of a question as they come (server-sent events)."""
    job = _job(context)

    async def told() -> AsyncIterator[str]:
        async for stage in job.heard():
            yield f"data: {stage}\n\n"

    return StreamingResponse(told(), media_type="text/event-stream")


async def cancel(context: PageContext) -> Response:
    """End a question; what was reserved for it stays spent."""
    job = _job(context)
    job.watch.cancel()
    if context.wants_json:
        return JSONResponse({"at": f"/asked/{job.key}"}, 202)
    await job.ended()
    return RedirectResponse(f"/asked/{job.key}", 303)


async def plan(context: PageContext) -> Response:
    """What the answer would cost and how far off it would be; spends nothing."""
    asked = (_sql(context), _said(context))
    try:
        made = await context.service.run(expected, context.service, context.person, *asked)
    except AdomniaError as error:
        if context.wants_json:  # while a person types, most statements are wrong: no failure
            return JSONResponse({"error": _told(error)})
        return await _page(context, context.form, error=error)
    if context.wants_json:
        return JSONResponse(made.to_json())
    return await _page(context, context.form, forecast=made)


async def _page(
    context: PageContext,
    form: Mapping[str, str],
    error: AdomniaError | None = None,
    forecast: Expectation | None = None,
) -> Response:
    facts = await context.service.run(_facts, context.service, context.person)
    return await context.page(
        "ask.html",
        **facts,
        sql=form.get("sql", ""),
        amount=form.get("amount") or facts["usual"],
        confidence=form.get("confidence") or "0.95",
        delta=form.get("delta", ""),
        confidences=CONFIDENCES,
        key=secrets.token_urlsafe(18),
        error=error,
        pointer=pointer(error),
        forecast=forecast,
    )


def _facts(service: Service, person: Person) -> dict[str, Any]:
    """What the page shows beside the form."""
    unit = _unit(service, person)
    left = service.session(person).remaining().get(unit, Fraction(0))
    own = [line for line in visible(lines(service.database), person)
           if line.analyst == asker(person) and line.kind == "question"]  # fmt: skip
    usual = min(Fraction(1, 10), left) if left > 0 else Fraction(1, 10)
    return {
        "unit": unit,
        "left": left,
        "usual": formatting.amount(usual).removeprefix("about "),
        "listings": listings(service.database),
        "examples": examples(service.database),
        "recent": own[: -RECENT - 1 : -1],
    }


def _unit(service: Service, person: Person) -> str:
    """What this person pays with."""
    policy = service.database.policy
    return currency(policy.analysts.get(asker(person), policy.budget))


def _sql(context: PageContext) -> str:
    """The statement as it stands in the editor: forms are sent with two characters a line end."""
    return context.form.get("sql", "").replace("\r\n", "\n")


def _said(context: PageContext) -> dict[str, Any]:
    """What the form says beside the statement, as `ask` takes it."""
    form, unit = context.form, _unit(context.service, context.person)
    said: dict[str, Any] = {unit: form.get("amount", "").strip()}
    if form.get("delta", "").strip():
        said["delta"] = form["delta"].strip()
    said["confidence"] = form.get("confidence") or "0.95"
    return said


def _key(form: str, sql: str, said: dict[str, Any]) -> str:
    """One key for a form that is sent twice; another where what it asks was changed."""
    if not form:
        raise QuestionError("this form has no key", "reload the page and ask again")
    return hashlib.sha256(json.dumps([form, sql, said]).encode()).hexdigest()[:40]


def _as_form(job: Job) -> dict[str, str]:
    said = {"epsilon": "amount", "rho": "amount"}
    return {"sql": job.sql} | {said.get(name, name): str(v) for name, v in job.asked.items()}


def _job(context: PageContext) -> Job:
    job = context.console.jobs.find(context.person, context.request.path_params["key"])
    if job is None:
        raise QuestionError("this question is not running", "the ledger says what became of it")
    return job


async def _remembered(context: PageContext, key: str) -> Response:
    """The page of an answer that was given before this server was started."""
    listed = await context.service.run(lines, context.service.database)
    own = [line for line in listed if line.analyst == asker(context.person)]
    found = next((line for line in own if line.key == key and line.answered), None)
    return RedirectResponse(f"/answers/{found.receipt}" if found else "/", 303)


def _told(error: AdomniaError) -> dict[str, Any]:
    position = getattr(error, "position", None)
    return {"message": error.message, "hint": error.hint, "position": position}
