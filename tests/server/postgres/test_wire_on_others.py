"""Attempts over psql to learn of others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from parlour import SECRET, Parlour, Wire, errors_in, rows_in
from wire_attempting import COUNT, codes, fresh


@pytest.fixture
def bob(parlour: Parlour) -> Iterator[Wire]:
    made = Wire(parlour.port)
    made.log_in("bob")
    yield made
    made.close()


def test_a_refusal_does_not_tell_what_others_have_spent(wire: Wire, bob: Wire) -> None:
    bob.query("SET adomnia.epsilon = 5000")
    before = errors_in(bob.query(COUNT))
    assert not codes(wire.query(fresh()))
    after = errors_in(bob.query(COUNT))
    assert [error["C"] for error in before] == ["53400"]
    assert before == after


def test_the_catalogue_tells_bob_of_bob_alone(wire: Wire, bob: Wire) -> None:
    wire.query("SET application_name = 'alices notebook'")
    wire.query("PREPARE alices AS " + fresh())
    for seen in ("pg_stat_activity", "pg_roles", "pg_user", "pg_shadow", "pg_authid", "pg_cursors",
                 "pg_prepared_statements", "pg_stat_database", "pg_locks", "pg_auth_members",
                 "adomnia.budget", "information_schema.role_table_grants", "pg_stat_ssl",
                 "information_schema.applicable_roles", "pg_settings"):  # fmt: skip
        told = b"".join(body for _, body in bob.query(f"SELECT * FROM {seen}"))
        assert b"alice" not in told
        assert b"carol" not in told


@pytest.mark.parametrize(
    "sql",
    ["SET ROLE alice", "SET SESSION AUTHORIZATION alice", "SET session_authorization = 'alice'",
     "SELECT set_config('session_authorization', 'alice', false)", "SET is_superuser = on",
     "SELECT set_config('role', 'alice', false)"],
)  # fmt: skip
def test_bob_stays_bob(bob: Wire, sql: str) -> None:
    assert len(codes(bob.query(sql))) == 1
    assert rows_in(bob.query("SELECT current_user, session_user")) == [["bob", "bob"]]


def test_a_removed_account_asks_nothing_more(parlour: Parlour) -> None:
    parlour.service.accounts.remove("carol")
    parlour.service.accounts.add("carol", "analyst", "a secret to be taken back")
    carol = Wire(parlour.port)
    carol.log_in("carol", "a secret to be taken back", options="-c adomnia.epsilon=0.1")
    parlour.service.accounts.remove("carol")
    try:
        assert codes(carol.query(fresh())) == ["28P01"]
        assert codes(carol.query("SELECT COUNT(*) FROM pg_class")) == ["28P01"]
    finally:
        parlour.service.accounts.add("carol", "analyst", SECRET)
        carol.close()
