"""A schema on a real server for one test: its owner fills it, engines read it."""

from __future__ import annotations

import sys
import traceback
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from uuid import uuid4

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1]))

from adomnia.engines.postgres.engine import PostgreSQL
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.sql.bind import bind
from adomnia.queries.strategy import plan_measurements
from adomnia.schema.domain import Categories, Grid, Open
from adomnia.schema.table import Attribute, Table
from tests import postgres_server
from tests.enforced import request_of

SECRET = "Xq7SECRETz"
DOMAINS = {
    "id": Grid(Fraction(0), Fraction(10**9)),
    "city": Categories(("Ulm", "Köln"), other="other"),
    "name": Open(),
}


def table(domains=DOMAINS):
    """The private table with these domains."""
    attributes = {name: Attribute(name, domain) for name, domain in domains.items()}
    return Table("people", attributes)


def request(sql, private=None):
    """What a statement needs of the data."""
    private = private or table()
    question = bind(sql, private, tuple(private.attributes))
    found = plan_measurements(question).measurements
    return request_of(private, question.where, question.keys, found)


def exact(engine, sql, private=None):
    """The sealed values of a statement, opened."""
    return [unseal(part).tolist() for part in engine.measure(request(sql, private))]


def count(engine, where="TRUE"):
    """How many rows there are."""
    return exact(engine, f"SELECT COUNT(*) FROM people WHERE {where}")[0][0][0]


class Place:
    """A schema: its owner's connection, and engines that read it."""

    def __init__(self, server, owner, schema):
        self.server, self.owner, self.schema = server, owner, schema
        self._engines = []

    def run(self, sql):
        """Run statements with the schema in front; what they make can be read."""
        self.owner.execute(f"SET search_path = {self.schema}, public; {sql}")
        self.owner.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {self.schema} TO reader")

    def fill(self, rows=3):
        """A table of people."""
        self.run(
            "CREATE TABLE people (id bigint, city text, name text); INSERT INTO people "
            f"SELECT i, 'Ulm', '{SECRET}' FROM generate_series(1, {rows}) i"
        )
        return self

    def slow(self, rows=60, pause=0.1):
        """A view that takes its time over every row."""
        self.fill(rows)
        self.run(f"CREATE VIEW slow AS SELECT * FROM people WHERE pg_sleep({pause}) IS NOT NULL")
        return self

    def opened(self, name="people", domains=DOMAINS):
        """An engine of the role that only reads, closed with the schema."""
        engine = PostgreSQL(self.server.url(role="reader"), f"{self.schema}.{name}", domains)
        self._engines.append(engine)
        return engine

    def close(self):
        """Close the engines."""
        for engine in self._engines:
            engine.close()


@contextmanager
def placed():
    """A schema of its own, dropped at the end."""
    server, schema = postgres_server.shared(), f"test_{uuid4().hex}"
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"CREATE SCHEMA {schema}; GRANT USAGE ON SCHEMA {schema} TO reader")
        made = Place(server, owner, schema)
        yield made
        made.close()
    server.execute(f"SET client_min_messages = error; DROP SCHEMA {schema} CASCADE")


def assert_silent(error, capfd):
    """No trace of the data: in the message, in what caused it, or in what was printed."""
    assert error.__cause__ is None
    assert error.__context__ is None
    said = "".join(traceback.format_exception(error)) + repr(error) + "".join(capfd.readouterr())
    assert SECRET not in said
    assert SECRET not in str(vars(error))
