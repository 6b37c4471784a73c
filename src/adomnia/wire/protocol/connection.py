"""One connection after its log-in: messages come in, statements are run, results go out.

After an error in the extended protocol everything is skipped until the client says Sync.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from adomnia.wire.errors import WireError, as_wire_error, error_fields, malformed, placed
from adomnia.wire.protocol.messages import (
    MAX_MESSAGE,
    MessageBody,
    command_complete,
    copy_out,
    data_row,
    fields,
    frame,
    parameter_description,
    parameter_status,
    read_message,
    ready,
    row_description,
)
from adomnia.wire.statements.dispatch import understand
from adomnia.wire.statements.lexer import ClientStatement, split
from adomnia.wire.statements.portals import Portal, PreparedStatement
from adomnia.wire.statements.query_handler import QueryHandler
from adomnia.wire.statements.results import Command, Notice, Outcome
from adomnia.wire.statements.settings import REPORTED
from adomnia.wire.values.codecs import encoders
from adomnia.wire.values.columns import ResultColumn
from adomnia.wire.values.decoding import decode_all
from adomnia.wire.values.types import size_of

__all__ = ["Connection"]

MAX_TEXT = 100_000
"""Longer statements are not looked at: no question is so long."""

LONG = 2000
"""A text of more characters is read in a thread."""

FLUSH = 1 << 16
"""How much is written before the client has to have taken some of it."""


class Connection:
    """The state machine of the protocol, for somebody who is logged in."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: QueryHandler
    ) -> None:
        self._reader, self._writer, self._handler = reader, writer, handler
        self._state = handler.state
        self._out = bytearray()
        self._skips = False
        self._reported: dict[str, str] = {}

    async def run(self) -> None:
        """Serve until the client leaves or breaks the protocol."""
        self._tell_settings()
        self._send(ready(self._state.status))
        await self._flush()
        while True:
            kind, body = await read_message(self._reader, MAX_MESSAGE)
            if kind == b"X":
                return
            await self._handle(kind, body)

    async def _handle(self, kind: bytes, body: MessageBody) -> None:
        handler = _HANDLERS.get(kind)
        if handler is None:
            raise malformed("a message of this kind is not known")
        if self._skips and kind != b"S":
            return
        try:
            body.check()
            await handler(self, body)
        except ConnectionError:
            raise  # the client is gone
        except Exception as error:  # whatever it is, it costs this statement and nothing else
            self._fail(as_wire_error(error))
            self._skips = kind not in b"QF"
            if not self._skips:
                await self._ready()
            await self._flush()  # a client may wait for the error before it says Sync

    def _fail(self, error: WireError) -> None:
        if error.fatal:
            raise error
        self._state.fail()
        self._send(fields(b"E", error_fields(error)))

    # The simple protocol

    async def _query(self, body: MessageBody) -> None:
        sql = _statement_text(body)
        body.done()
        statements = await self._split(sql)
        self._state.portals.pop("", None)
        self._state.is_batch = len(statements) > 1
        for statement in statements:
            await asyncio.sleep(0)  # between many statements others have their turn
            with placed(statement.offset):
                command = await understand(self._handler, statement)
                if command.parameters:
                    raise WireError("there is no parameter here", "write the value", "42P02")
                portal = Portal(command)
                if portal.columns is not None:
                    self._describe(portal.columns, portal.formats)
                await self._execute_portal(portal, 0)
        if not statements:
            self._send(frame(b"I"))
        await self._ready()

    # The extended protocol

    async def _parse(self, body: MessageBody) -> None:
        name, sql = body.text(), _statement_text(body)
        declared = [body.oid() for _ in range(body.count(4))]
        body.done()
        statements = await self._split(sql)
        if len(statements) > 1:
            raise WireError("only one statement can be prepared", "", "42601", statements[1].offset)
        command = _EMPTY
        if statements:
            with placed(statements[0].offset):
                command = await understand(self._handler, statements[0], declared)
        self._state.keep(name, PreparedStatement(sql, command))
        self._send(frame(b"1"))

    async def _bind(self, body: MessageBody) -> None:
        portal_name, name = body.text(), body.text()
        formats = [body.int16() for _ in range(body.count(2))]
        values = [body.value() for _ in range(body.count(4))]
        results = [body.int16() for _ in range(body.count(2))]
        body.done()
        prepared = self._state.prepared.find(name)
        prepared.check()
        command = prepared.command
        self._state.check(command.ends_failure)
        given = decode_all(values, formats, command.parameters)
        self._state.portals.put(portal_name, Portal(command, given, results), "42P03")
        self._send(frame(b"2"))

    async def _describe_message(self, body: MessageBody) -> None:
        kind, name = body.take(1), body.text()
        body.done()
        if kind == b"S":
            prepared = self._state.prepared.find(name)
            self._send(parameter_description(prepared.command.parameters))
            columns = prepared.describe()
            self._describe(columns, [0] * len(columns or ()))
        elif kind == b"P":
            portal = self._state.portals.find(name)
            self._describe(portal.columns, portal.formats)
        else:
            raise malformed("neither a statement nor a portal is described")

    async def _execute(self, body: MessageBody) -> None:
        name, most = body.text(), body.int32()
        body.done()
        await self._execute_portal(self._state.portals.find(name), most)

    async def _close(self, body: MessageBody) -> None:
        kind, name = body.take(1), body.text()
        body.done()
        if kind not in (b"S", b"P"):
            raise malformed("neither a statement nor a portal is closed")
        if kind == b"S":
            self._state.prepared.pop(name, None)
        else:
            self._state.portals.pop(name, None)
        self._send(frame(b"3"))

    async def _sync(self, body: MessageBody) -> None:
        self._skips = False
        await self._ready()

    async def _flush_message(self, body: MessageBody) -> None:
        await self._flush()

    async def _function(self, body: MessageBody) -> None:
        raise WireError("functions cannot be called by number", "ask in SQL", "0A000")

    async def _ignore(self, body: MessageBody) -> None:
        """Data of a COPY that has failed or never was: PostgreSQL passes over it as well."""

    # Results

    async def _execute_portal(self, portal: Portal, most: int) -> None:
        self._state.check(portal.command.ends_failure)
        if portal.command is _EMPTY:
            self._send(frame(b"I"))
            return
        part = await portal.take(most)
        await self._send_rows(portal, part.rows)
        if part.is_first:
            await self._send_copy(part.outcome)
            for notice in part.outcome.notices:
                self._notice(notice)
        self._tell_settings()
        tag = part.outcome.tag.format(len(part.rows))
        self._send(frame(b"s") if part.is_suspended else command_complete(tag))

    async def _send_rows(self, portal: Portal, rows: Sequence[Sequence[Any]]) -> None:
        oids = [column.oid for column in portal.columns or ()]
        makers = encoders(oids, portal.formats)
        for row in rows:
            self._send(data_row([make(value) for make, value in zip(makers, row, strict=True)]))
            await self._flush(FLUSH)

    async def _send_copy(self, outcome: Outcome) -> None:
        if outcome.copy is None:
            return
        self._send(copy_out(outcome.copy_form, len(outcome.columns or ())))
        for piece in outcome.copy:
            self._send(frame(b"d", piece))
            await self._flush(FLUSH)
        self._send(frame(b"c"))

    def _describe(self, columns: Sequence[ResultColumn] | None, formats: Sequence[int]) -> None:
        if columns is None:
            self._send(frame(b"n"))
            return
        listed = [
            (each.name, each.oid, size_of(each.oid) if each.size == -1 else each.size, each.typmod)
            for each in columns
        ]
        self._send(row_description(listed, formats))

    def _notice(self, notice: Notice) -> None:
        if self._state.settings.notices or notice.severity != "NOTICE":
            severity = {"S": notice.severity, "V": notice.severity, "C": notice.sqlstate}
            texts = {"M": notice.message, "D": notice.detail, "H": notice.hint}
            self._send(fields(b"N", {**severity, **texts}))

    def _tell_settings(self) -> None:
        """Tell the settings that the client must know of, where they have changed."""
        for name, written in REPORTED.items():
            value = self._state.settings.get(name)
            if self._reported.get(name) != value:
                self._reported[name] = value
                self._send(parameter_status(written, value))

    async def _split(self, sql: str) -> list[ClientStatement]:
        """The statements of a text; while a long one is read, others are served."""
        return split(sql) if len(sql) <= LONG else await self._handler.run(split, sql)

    async def _ready(self) -> None:
        self._state.settle()
        self._tell_settings()
        self._send(ready(self._state.status))
        await self._flush()

    def _send(self, data: bytes) -> None:
        self._out += data

    async def _flush(self, above: int = 0) -> None:
        """Hand on what was written, and wait while the client is slow to take it."""
        if len(self._out) > above:
            self._writer.write(bytes(self._out))
            self._out.clear()
            await self._writer.drain()


def _statement_text(body: MessageBody) -> str:
    sql = body.text()
    if len(sql) > MAX_TEXT:
        raise WireError(f"the statement is longer than {MAX_TEXT} characters", "", "54000")
    return sql


async def _nothing(_: Sequence[Any]) -> Outcome:
    return Outcome("")


_EMPTY = Command(_nothing, ends_failure=True)
"""A statement of no words."""

_HANDLERS: Mapping[bytes, Callable[[Connection, MessageBody], Awaitable[None]]] = {
    b"Q": Connection._query,
    b"P": Connection._parse,
    b"B": Connection._bind,
    b"D": Connection._describe_message,
    b"E": Connection._execute,
    b"C": Connection._close,
    b"S": Connection._sync,
    b"H": Connection._flush_message,
    b"F": Connection._function,
    b"d": Connection._ignore,
    b"c": Connection._ignore,
    b"f": Connection._ignore,
}
