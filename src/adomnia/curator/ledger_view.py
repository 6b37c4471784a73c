"""The ledger of a policy: opened with its budgets on record, and read without opening the data."""

from __future__ import annotations

import getpass
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from adomnia.errors import PolicyError
from adomnia.ledger.account import Account, PaidUse
from adomnia.ledger.block_totals import BlockTotals
from adomnia.ledger.entry import Amounts, Entry, Record, read_loss, receipt, write_budget
from adomnia.ledger.journal import Journal, Verification
from adomnia.ledger.prior import Registered
from adomnia.ledger.stores.postgres_address import LedgerAddress
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.policy.policy import Policy, line_of
from adomnia.privacy.composition import Budget
from adomnia.privacy.loss import Loss
from adomnia.queries.blocks import Blocks
from adomnia.storage.address import SCHEMES

if TYPE_CHECKING:
    from adomnia.ledger.stores.postgres_journal import PostgresJournal

__all__ = [
    "Account",
    "BlockTotals",
    "Entry",
    "PaidUse",
    "Registered",
    "Verification",
    "budgets_of",
    "copy_ledger",
    "dataset_of",
    "exact_text",
    "list_entries",
    "open_journal",
    "open_ledger",
    "outside_origins",
    "read_loss",
    "receipt",
    "record_blocks",
    "record_budgets",
    "released_tables",
    "source_name",
    "spending",
    "state_of",
    "verify_ledger",
]


def open_journal(policy: Policy, by: str | None = None) -> Journal:
    """The policy's ledger, made where there is none; that of other data is refused.

    Budgets that were changed since are recorded, with who opened it: an account, or whoever runs
    this process.
    """
    place, who = _place(policy), by or _system_user()
    said = opening(dataset_of(policy), budgets_of(policy), who)
    journal: Journal
    if isinstance(place, LedgerAddress):
        journal = _postgres()(place, opening=said)
    else:
        journal = SqliteJournal(place, opening=said)
    try:
        _refuse_other_data(policy, journal)
        record_budgets(journal, budgets_of(policy), who)
        record_blocks(journal, policy.blocks)
    except BaseException:
        journal.close()
        raise
    return journal


def dataset_of(policy: Policy) -> dict[str, str]:
    """What tells the policy's data from other data, wherever its folder is moved to.

    Files by their names, without folders; addresses without the user, password and settings.
    """
    said = _tables(policy)
    graph = policy.graph
    if graph is None:
        return said
    nodes = f"{source_name(graph.nodes)}" if graph.nodes else f"{graph.ids}"
    return {**said, "graph": f"{source_name(graph.edges)}, nodes {nodes}"}


def _tables(policy: Policy) -> dict[str, str]:
    """The table and its source; of several those of the units: others may be added to them."""
    if policy.several is not None:
        units = [policy.several.sources[name] for name in policy.several.tables.units]
        return {
            "table": ", ".join(unit.relation for unit in units),
            "source": ", ".join(source_name(unit.source) for unit in units),
        }
    if not policy.source:
        return {}
    return {"table": policy.relation or policy.table, "source": source_name(policy.source)}


def budgets_of(policy: Policy) -> dict[str | None, Budget]:
    """The budget of the data, under None, and those of the analysts."""
    budgets: dict[str | None, Budget] = {None: policy.budget}
    return budgets | dict(policy.analysts)


@contextmanager
def open_ledger(policy: Policy) -> Iterator[Journal | None]:
    """The policy's ledger while the block runs; None where nothing was ever asked."""
    with _found(_place(policy)) or nullcontext() as journal:
        if journal is not None:
            _refuse_other_data(policy, journal)
        yield journal


def copy_ledger(policy: Policy, path: Path) -> None:
    """A file with the same entries, to be spent in the place of the ledger; none, where none is."""
    with open_ledger(policy) as journal:
        if journal is not None:
            SqliteJournal.copied(journal, path).close()


def spending(policy: Policy) -> dict[str, Any]:
    """What is spent and left: of the data, and of every analyst."""
    with open_ledger(policy) as journal:
        return state_of(policy, Account() if journal is None else journal.account())


def state_of(policy: Policy, account: Account) -> dict[str, Any]:
    """What an account leaves of the policy's budgets, as plain JSON values."""
    blocks = {} if policy.blocks is None else {"blocks": _block_states(policy, account)}
    return {
        "data": _state(policy.budget, account.total),
        "analysts": {
            name: _state(budget, account.analysts.get(name, Loss()))
            for name, budget in policy.analysts.items()
        },
        **blocks,
    }


def _block_states(policy: Policy, account: Account) -> list[dict[str, Any]]:
    """What is spent and left of each block, in their order; that of all other rows has no name."""
    assert policy.blocks is not None
    names = policy.blocks.names
    return [{"block": name, **_state(policy.budget, account.spent().of(name))} for name in names]


def list_entries(policy: Policy, bodies: Collection[str] | None = None) -> list[Entry]:
    """Every entry of the ledger, in order; with all bodies, or those of these kinds."""
    with open_ledger(policy) as journal:
        return [] if journal is None else list(journal.entries(bodies=bodies))


def verify_ledger(policy: Policy) -> Verification:
    """Whether the ledger's chain holds; that there is no ledger is a problem by itself."""
    with _found(_place(policy)) or nullcontext() as journal:
        if journal is None:
            return Verification(0, (f"there is no ledger at {_place(policy)}",))
        return journal.verify()


def exact_text(published: Mapping[str, Any]) -> str:
    """What an entry about exact releases says: a release, that they hold, or another promise."""
    if "sql" in published:
        return str(published["sql"])
    if "confirmed" in published:
        return "what was released exactly was confirmed for the data as they were then"
    return "the policy promises something else"


def outside_origins(entry: Entry) -> list[dict[str, str]]:
    """The mechanisms of other packages that a reservation was for, by name, package and version."""
    parts = (entry.body.get("use") or {}).get("parts", ())
    return [
        {**part["mechanism"], **{name: part["outside"][name] for name in ("package", "version")}}
        for part in parts
        if "outside" in part
    ]


def released_tables(answer: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The tables that an answer in the ledger published; none where it is no release's."""
    parts = (answer or {}).get("released", ())
    return [table for part in parts for table in part.get("marginals", ())]


def _refuse_other_data(policy: Policy, journal: Journal) -> None:
    """Refuse a ledger that was begun for other data: both would spend one budget."""
    recorded, own = journal.account().dataset, dataset_of(policy)
    if recorded is None:
        return  # it was begun without a policy
    shared = recorded.keys() & own.keys()
    if shared and all(recorded[name] == own[name] for name in shared):
        return
    raise PolicyError(
        f"the ledger {_place(policy)} belongs to other data: {_told(recorded)}, not {_told(own)}",
        "give each data set a ledger of its own: [ledger] url names another one",
        str(policy.file),
        line_of(policy, ("ledger", "url")),
    )


def _told(dataset: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in dataset.items())


def source_name(source: str) -> str:
    """The name of a file; an address by its host and path, and what it reads there by its name."""
    if "://" not in source:
        return Path(source).name
    scheme, _, rest = source.partition("://")
    place, _, query = rest.partition("?")
    read = dict(parse_qsl(query)).get("path", "")
    return f"{scheme}://{place.rpartition('@')[2]}" + (f"?path={Path(read).name}" if read else "")


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container may have no name for its user
        return f"user {os.getuid()}"


def _found(place: Path | LedgerAddress) -> PostgresJournal | SqliteJournal | None:
    if isinstance(place, LedgerAddress):
        return _postgres().found(place)
    return SqliteJournal.found(place)


def _postgres() -> type[PostgresJournal]:
    from adomnia.ledger.stores.postgres_journal import PostgresJournal  # noqa: PLC0415 (few need it)

    return PostgresJournal


def _place(policy: Policy) -> Path | LedgerAddress:
    """Where the ledger is: a file, or an address whose text keeps the password to itself."""
    url = policy.ledger
    if "://" not in url:
        return Path(policy.beside(url))
    hint = 'use a file, as in url = "adomnia.ledger", or postgresql://user@host/database'
    try:
        if url.startswith(SCHEMES):
            return LedgerAddress.of(url, policy.file.parent)
        wrong = "a ledger cannot be kept there"
    except ValueError as error:
        wrong = str(error)
    raise PolicyError(wrong, hint, str(policy.file), line_of(policy, ("ledger", "url")))


def _state(budget: Budget, total: Loss) -> dict[str, str]:
    """Spent and left, in the budget's main currency, with delta beside it where there is one."""
    spent, left = budget.spent(total), budget.remaining(total)
    main = "rho" if budget.rho is not None else "epsilon"
    state = {"spent": str(spent[main]), "remaining": str(left[main]), "unit": main}
    if budget.delta is not None:
        state |= {"delta_spent": str(spent["delta"]), "delta_remaining": str(left["delta"])}
    return state


def record_blocks(journal: Journal, blocks: Blocks | None) -> None:
    """Record how rows are dealt out to blocks, where that was not so before."""
    said = {"by": None, "names": []} if blocks is None else blocks.dealt

    def decide(account: Account) -> Sequence[Record]:
        known = account.dealt or {"by": None, "names": []}
        return [] if known == said else [Record("blocks", said)]

    if decide(journal.account()):
        journal.append(decide)


# Budgets on record: what the policy allows is an entry whenever it was changed, with by whom.

Budgets = Mapping[str | None, Budget]
"""The budget of the data under None, and those of analysts under their names."""


def opening(dataset: Mapping[str, str], budgets: Budgets, by: str) -> dict[str, Any]:
    """What the first entry of a new ledger says: of which data it is, and what may be spent."""
    listed = [[name, write_budget(budget)] for name, budget in budgets.items()]
    return {"dataset": dict(dataset), "budgets": listed, "by": by}


def record_budgets(journal: Journal, budgets: Budgets, by: str) -> int:
    """Record every budget that is not what was last recorded; how many there were.

    Nothing is written where nothing was changed, also where several open the policy at once.
    """
    new = {name: write_budget(budget) for name, budget in budgets.items()}
    if journal.account().budgets == new:
        return 0

    def decide(account: Account) -> Sequence[Record]:
        return list(_changes(account.budgets, new, by))

    return len(journal.append(decide))


def _changes(old: Mapping[str | None, Amounts], new: Mapping[str | None, Amounts], by: str) -> Any:
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before != after:
            yield Record("budget", {"name": name, "old": before, "new": after, "by": by})
