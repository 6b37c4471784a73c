"""The database as its curator has it in Python: everything that the command line can do.

What an audit or an attack needs is loaded when it is called, so that asking stays quick to start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from adomnia.curator import database as curator
from adomnia.curator.releases.release import Release
from adomnia.curator.releases.release_plan import ReleasePlan
from adomnia.errors import QuestionError
from adomnia.policy.policy import Policy
from adomnia.privacy.loss import Amount

if TYPE_CHECKING:
    from adomnia.audit.disclosure.disclosure_report import DisclosureReport
    from adomnia.audit.finding import Finding
    from adomnia.curator.data.editions import Edition
    from adomnia.review.audit_report import AuditReport
    from adomnia.review.check.source_check import SourceCheck
    from adomnia.review.check.tables_check import TablesCheck
    from adomnia.review.gate import ReleaseCheck
    from adomnia.review.microdata.records_comparison import RecordsComparison

__all__ = ["Database", "open_database"]

Progress = Callable[[float], None]
AskingAttack = Literal["reconstruct", "averaging", "tracker", "prior"]
"""The attacks that ask a database."""


class Database(curator.PrivateDatabase):
    """Sensitive data behind its promise, with all that its curator may do with it.

    Close it, or use it in a `with` statement. `audit`, `check`, `check_release`,
    `compare_records`, `disclosures` and `attack` look at exact data: what they return is for the
    curator, not for publication.

    >>> from adomnia.testing import town
    >>> with town(rows=50, privacy="epsilon = 2").open() as database:
    ...     answer = database.session().ask("SELECT AVG(age) AS mean FROM people", epsilon=1)
    ...     database.budget()["data"]["spent"]
    '1'
    """

    def __init__(self, policy: Policy, accept: bool = False, source: Any = None) -> None:
        super().__init__(policy, accept, source)
        self._source = source

    def audit(  # noqa: PLR0913 (a door: what may be said is said by name)
        self,
        *,
        public: Sequence[str] = (),
        sensitive: str | None = None,
        microdata: str | Path | None = None,
        control: str | Path | None = None,
        shadows: int = 64,
        names: bool = False,
        seed: int = 0,
        time_limit: float = 30.0,
        progress: Progress | None = None,
    ) -> AuditReport:
        """Attack the promise and the data, and say what was found; nothing real is spent.

        `public` are attributes that somebody may know of a person, `sensitive` the one that should
        not be learned; both as in [audit] of the policy unless given. `microdata` is a file of
        records that is, or will be, public, or the folder of a release; `control` a file of people
        who were not in the data, and `shadows` how many releases are made again to tell who was.
        With `names` findings also say who and what exactly.
        `time_limit` is that of each attack, in seconds; `progress` is called with what was done of
        them, together 1 for each.

        Returns the findings with their colours and the verdict; what could not be looked at is
        listed with the reason. Raises a QuestionError where `public`, `sensitive`, `microdata`
        or `control` are wrong.

        >>> from adomnia.testing import town
        >>> with town(rows=50, privacy="epsilon = 0.5").open() as database:
        ...     report = database.audit(public=["sex", "region"], sensitive="income", time_limit=1)
        >>> report.verdict() in ("green", "amber", "red"), len(report.findings) > 0
        (True, True)
        """
        from adomnia.review.audit import AuditCase, examine  # noqa: PLC0415 (slow to import)

        file, others = (None if one is None else str(one) for one in (microdata, control))
        case = AuditCase(tuple(public), sensitive, file, names, seed, time_limit, others, shadows)
        opened, view = self._opened_as
        return examine(opened, case, self._source, progress, view)

    def check(self) -> SourceCheck | TablesCheck:
        """The source as it is now, held against the policy and the edition in force, exactly.

        Nothing is loaded or spent. Returns what cleaning and the bounds of units leave out, what
        has changed, which bounds would leave out less, and which limits of [check] are exceeded;
        `enforce()` of it raises where any is. Of several tables `tables` of it has the same of each
        by its name, and there which rows are nobody's, which keys repeat, and what refers to no
        row. Raises a PolicyError where a source cannot be read.

        >>> from adomnia.testing import town
        >>> with town(rows=50, more="[check]\\nleft_out = 0.01").open() as database:
        ...     checked = database.check()
        >>> [(one.name, one.left_out) for one in checked.inspection.columns][:2], checked.exceeded
        ([('sex', 0), ('age', 0)], ())
        """
        from adomnia.review.check.examination import check_source  # noqa: PLC0415 (rare)
        from adomnia.review.check.tables_check import check_tables  # noqa: PLC0415 (rare)

        self._refuse_view("it is not checked")
        if self.policy.several is not None:
            return check_tables(self.policy)
        return check_source(self.policy, self._source)

    def load_checked(self) -> Edition:
        """Load the source if it exceeds no limit of [check] in the policy; else the last edition
        goes on.

        Returns the new edition. Raises a CheckError where a limit is exceeded, a PolicyError where
        the policy sets none or the source cannot be loaded, and a MachineryError where it changed
        after it was checked.

        >>> from adomnia.testing import town
        >>> with town(rows=50, more="[check]\\nleft_out = 0").open() as database:
        ...     database.load_checked().number
        2
        """
        from adomnia.review.check.examination import refuse_no_limits  # noqa: PLC0415 (rare)

        refuse_no_limits(self.policy)
        checked = self.check()
        checked.enforce()
        return self.load(checked=checked.version)

    def check_release(self, planned: ReleasePlan) -> ReleaseCheck:
        """What the tables of a planned release would disclose, before anything is paid.

        `planned` comes from `plan_release`. Returns how many disclosures are expected, which, and
        how many the policy allows; `enforce()` of it raises where that is too many. Raises a
        QuestionError where [audit] of the policy does not say what is public and sensitive.

        >>> from adomnia.testing import town
        >>> audit = '[audit]\\npublic = ["sex"]\\nsensitive = "region"'
        >>> with town(rows=50, more=audit).open() as database:
        ...     checked = database.check_release(database.plan_release(ways=2, epsilon="0.01"))
        >>> checked.tables > 0, checked.passed
        (True, True)
        """
        from adomnia.review.gate import check_release  # noqa: PLC0415 (slow to import)

        return check_release(self, planned)

    def compare_records(self, release: Release) -> RecordsComparison:
        """How far the made-up records of a release are from the data; exact, for the curator.

        `release` comes from `release`. Returns the total variation of every column and pair, the
        worst cells, and how strongly pairs go together, true and made up. Raises a QuestionError
        where the release has no records.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     made = database.release(database.plan_release(marginals=["sex"], epsilon=1000))
        ...     database.compare_records(made).columns[0].variation
        0.0
        """
        from adomnia.review.microdata.records_comparison import compare_records  # noqa: PLC0415 (slow)

        return compare_records(self, release)

    def disclosures(
        self,
        *,
        public: Sequence[str] = (),
        sensitive: str | None = None,
        epsilons: Iterable[Amount] = ("2", "1", "0.5", "0.1", "0.01"),
        **terms: Any,
    ) -> DisclosureReport:
        """Where noisy two-way tables would show that a value is far more common in a group.

        Attributes as in `audit`; `terms` are fields of `adomnia.audit.Terms`, such as `tau`, `kj`,
        `kcp`, `names`. Returns the number of disclosures and the error of the tables at each
        epsilon. Raises a QuestionError where an attribute is not declared.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     report = database.disclosures(public=["sex", "age"], sensitive="region")
        >>> list(report.readings)
        ['pair', 'all']
        """
        from adomnia.review import disclosures as review  # noqa: PLC0415 (slow to import)

        roles = review.Roles.of(public, sensitive, self.policy.audit)
        neighbors = terms.pop("neighbors", None) or review.relation(self.policy)
        given = review.terms_of(self.policy.audit, neighbors, **{"reading": "both", **terms})
        return review.disclosures_of(self, roles, epsilons, given)

    def attack(self, name: AskingAttack, *, spend: bool = False, **options: Any) -> Finding:
        """Run one attack that asks: `reconstruct`, `averaging`, `tracker` or `prior`.

        It asks a copy of the ledger, which spends nothing; if `spend`, this database itself.
        The options are those of the function of the same name in `adomnia.review.attacks`:
        a `condition` for averaging; `targets` and `trackers`; a `target` and the `column` that
        names people for reconstruct, which attacks made-up people without them.

        Returns what was learned, against knowing nothing. Raises a QuestionError where an option
        or the SQL is wrong. Attacks on files need no database: `adomnia.audit.attack_named`.

        >>> from adomnia.testing import town
        >>> with town(rows=50, privacy="epsilon = 2").open() as database:
        ...     finding = database.attack("averaging", condition="age > 40", epsilon=1)
        ...     finding.attack, database.budget()["data"]["spent"]
        ('averaging', '0')
        """
        if name not in get_args(AskingAttack):
            hint = "there are: " + ", ".join(get_args(AskingAttack))
            raise QuestionError(f"no attack {name[:60]!r} asks a database", hint)
        if spend:
            return _ASKING[name](self, options)
        with self.rehearsal() as copy:
            return _ASKING[name](copy, options)

    @contextmanager
    def rehearsal(self) -> Iterator[curator.PrivateDatabase]:
        """The same data and promise on a copy of the ledger, to be asked in the place of this.

        What is spent there, nobody has spent; the copy is gone when the block ends.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     with database.rehearsal() as copy:
        ...         answer = copy.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
        ...     database.budget()["data"]["spent"]
        '0'
        """
        from adomnia.review.rehearsal import rehearsal  # noqa: PLC0415 (only needed here)

        opened, view = self._opened_as
        with rehearsal(opened, self._source, view) as copy:
            yield copy


def _reconstruct(database: curator.PrivateDatabase, options: dict[str, Any]) -> Finding:
    from adomnia.review.attacks import Sums, attack_made_up, attack_sums  # noqa: PLC0415 (slow)

    given = dict(options)
    whom = {key: given.pop(key) for key in ("target", "column", "analyst") if key in given}
    sums = Sums(**given)
    return attack_sums(database, sums, **whom) if whom else attack_made_up(database.policy, sums)


def _averaging(database: curator.PrivateDatabase, options: dict[str, Any]) -> Finding:
    from adomnia.review.attacks import attack_averaging  # noqa: PLC0415 (slow to import)

    return attack_averaging(database, **options)


def _tracker(database: curator.PrivateDatabase, options: dict[str, Any]) -> Finding:
    from adomnia.review.attacks import attack_tracker  # noqa: PLC0415 (slow to import)

    return attack_tracker(database, **options)


def _prior(database: curator.PrivateDatabase, options: dict[str, Any]) -> Finding:
    from adomnia.review.attacks import attack_prior  # noqa: PLC0415 (slow to import)

    return attack_prior(database, **options)


_ASKING: dict[AskingAttack, Callable[[curator.PrivateDatabase, dict[str, Any]], Finding]] = {
    "reconstruct": _reconstruct,
    "averaging": _averaging,
    "tracker": _tracker,
    "prior": _prior,
}
"""How each is put to a database."""


def open_database(
    policy: str | Path = "adomnia.toml", *, accept: bool = False, source: Any = None
) -> Database:
    """The database that a policy file describes, with all that its curator may do with it.

    Arguments and errors are those of `adomnia.curator.database.open_database`.
    """
    return Database(curator.confirmed_policy(policy), accept, source)
