"""Where a policy says what an error is about: its line, and the columns it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from adomnia.errors import PolicyError
from adomnia.policy.policy import Policy, line_of

__all__ = [
    "check_table_columns",
    "located",
    "refuse_priors",
    "refuse_several",
    "refuse_unknown_columns",
]


NAME_A_VIEW = (
    'name a view, which is one table: [views.NAME] sql = "SELECT …" in the policy, and --view NAME '
    "at the command line; in Python database.view(NAME)"
)


def refuse_several(policy: Policy, what: str, hint: str = NAME_A_VIEW) -> None:
    """Refuse what is of one table where the policy has several."""
    if policy.several is not None:
        named = ", ".join(policy.several.tables.tables)
        file, line = str(policy.file), line_of(policy, ("tables",))
        raise PolicyError(f"{what}, and the policy has several: {named}", hint, file, line)


def refuse_priors(policy: Policy) -> None:
    """Refuse exact releases of several tables: how far neighbours are apart then is not known."""
    hint = "what was released of several tables cannot be told to the promise"
    refuse_several(policy, "exact releases are of one table", hint)


@contextmanager
def located(policy: Policy, path: tuple[str, ...]) -> Iterator[None]:
    """An error about what the policy names, with the line that names it."""
    try:
        yield
    except PolicyError as error:
        if error.line is not None:
            raise
        file, line = str(policy.file), line_of(policy, path)
        raise PolicyError(error.message, error.hint, file, line) from None


def refuse_unknown_columns(
    policy: Policy, named: Mapping[str, tuple[str, ...]], columns: Mapping[str, str], data: str
) -> None:
    """Refuse columns that the data does not have, each with where the policy names it."""
    for name, path in named.items():
        if name not in columns:
            file, line = str(policy.file), line_of(policy, path)
            known = "its columns are: " + ", ".join(list(columns)[:30])
            raise PolicyError(f"{data} has no column {name!r}", known, file, line)


def check_table_columns(policy: Policy, name: str, columns: Mapping[str, str]) -> None:
    """Refuse a policy that names what the source of one of several tables does not have."""
    assert policy.several is not None
    table, path = policy.several.tables.tables[name], ("tables", name)
    named: dict[str, tuple[str, ...]] = {
        column: (*path, "attributes", column) for column in table.attributes
    }
    named |= dict.fromkeys(table.references, (*path, "references"))
    if table.key is not None:
        named[table.key] = (*path, "key")
    refuse_unknown_columns(policy, named, columns, f"the table {name!r}")
