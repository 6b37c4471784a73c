"""The steps of an audit that attack a file of records, beside a careless one of the same data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.audit.finding import Finding
from adomnia.curator.database import PrivateDatabase
from adomnia.errors import QuestionError
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.privacy.composition import convert
from adomnia.review.exact_columns import release_again, release_count, released_rows
from adomnia.review.microdata.released_microdata import (
    ReleasedMicrodata,
    audited_files,
    plan_again,
    read_microdata,
)
from adomnia.schema.sealed import Sealed

if TYPE_CHECKING:
    import pyarrow as pa

    from adomnia.audit.synthetic.shadows import RecordGenerator
    from adomnia.curator.releases.release_plan import ReleasePlan

__all__ = ["DELTA", "MicrodataCase", "attack_members", "attack_records", "release_generator"]

DELTA = Fraction(1, 10**7)
"""For a release paid in rho: what it promises is told as the epsilon at this delta."""


@dataclass(frozen=True)
class MicrodataCase:
    """A file, or the folder of a release, and how it is attacked."""

    place: str
    control: str | None = None
    public: tuple[str, ...] = ()
    sensitive: str | None = None
    shadows: int = 64
    seed: int = 0
    time_limit: float = 30.0


def attack_records(case: MicrodataCase, database: PrivateDatabase) -> Iterator[Finding]:
    """Singling out and attribute inference, on the file and on a careless one."""
    from adomnia.audit.synthetic.coded_files import Population  # noqa: PLC0415 (slow to import)
    from adomnia.audit.synthetic.inference import attribute_inference  # noqa: PLC0415
    from adomnia.audit.synthetic.singling_out import singling_out  # noqa: PLC0415

    released = read_microdata(case.place)
    planned = _planned(database, released)
    files = audited_files(database, released, planned, case.control)
    people = Population(files.data, files.control)
    secrets = [name for name in files.data.column_names if name == case.sensitive]
    known = [name for name in case.public if name in files.data.column_names]
    how: dict[str, Any] = {"seed": case.seed, "time_limit": case.time_limit / 2}
    attacks: list[Callable[[pa.Table], Finding]] = [lambda file: singling_out(file, people, **how)]
    if files.data.num_columns > 1:
        attacks.append(lambda file: attribute_inference(file, people, secrets, known, **how))
    careless = _careless(files.data, case.seed)
    promised = planned is not None and case.control is not None
    for attack in attacks:
        found = attack(files.released)
        yield _beside(found, attack(careless), dict(files.left_out), promised)


def attack_members(
    case: MicrodataCase, database: PrivateDatabase, advance: Callable[[float], None] | None = None
) -> Finding:
    """Membership inference, on releases made as this one was and on careless ones.

    `advance` is called with the share that was done. Raises a QuestionError where it is not known
    how the file was made.
    """
    from adomnia.audit.synthetic.careless import careless_records  # noqa: PLC0415 (slow to import)
    from adomnia.audit.synthetic.membership import membership  # noqa: PLC0415

    generator = release_generator(database, read_microdata(case.place))
    chance = np.random.default_rng(case.seed)

    def careless(rows: Any) -> SyntheticRecords:
        made = careless_records(rows, chance)
        return SyntheticRecords(made, np.ones(len(made), np.int64))

    def tell() -> None:
        if advance is not None:
            advance(1 / (2 * case.shadows))

    def found(attacked: RecordGenerator) -> Finding:
        return membership(
            attacked, case.shadows, seed=case.seed, time_limit=case.time_limit, progress=tell
        )

    return _beside(found(generator), found(replace(generator, make=careless)), {}, True)


def release_generator(database: PrivateDatabase, released: ReleasedMicrodata) -> RecordGenerator:
    """What made the records, to be used on other rows: by the same code, and for nothing.

    Raises a QuestionError where the file does not say how it was made.
    """
    from adomnia.audit.synthetic.shadows import RecordGenerator  # noqa: PLC0415 (slow to import)

    if released.facts is None:
        raise QuestionError(
            "nobody says how this file was made, so it cannot be made again",
            "give the folder of a release, with its release.json",
        )
    planned = plan_again(database, released.facts)
    if planned.marginal_plan is None or planned.spec.unbiased:
        raise QuestionError(
            "this release has no records that were fitted to noisy tables",
            "release with --method microdata",
        )
    release, sizes = release_again(database, planned), planned.layout.measured.sizes

    def make(rows: Any) -> SyntheticRecords:
        whole = SyntheticRecords(rows, np.ones(len(rows), np.int64))
        made = release(lambda wanted: {s: Sealed(whole.tabulate(sizes, s)) for s in wanted})
        records: SyntheticRecords = made.microdata
        return records

    epsilon, delta = _promised(database, planned)
    replaces = database.policy.neighbors.replaces
    rows = released_rows(database, planned)
    return RecordGenerator(make, rows, sizes, epsilon, delta, replaces)


def _planned(database: PrivateDatabase, released: ReleasedMicrodata) -> ReleasePlan | None:
    """How it was made, if it says so and the policy still allows it."""
    if released.facts is None:
        return None
    try:
        return plan_again(database, released.facts)
    except QuestionError:
        return None


def _promised(database: PrivateDatabase, planned: ReleasePlan) -> tuple[float | None, float]:
    """What is promised of one row; None where the promise speaks of something else.

    Beside exact releases neighbours differ in more than a row, and with attributes or bits in less.
    """
    relation, loss = database.policy.neighbors.relation, planned.spec.loss
    if relation not in {"unbounded", "bounded"} or release_count(database):
        return None, 0.0
    if loss.rho:
        return float(convert(loss.rho, DELTA)), float(DELTA)
    return float(loss.epsilon), 0.0


def _careless(data: pa.Table, seed: int) -> pa.Table:
    """Everybody's record, with one column shuffled."""
    from adomnia.audit.synthetic.careless import dealt_column  # noqa: PLC0415 (slow to import)
    from adomnia.audit.synthetic.coded_files import code_files  # noqa: PLC0415

    coded = code_files(data, [])
    column, order = dealt_column(coded.files[0], np.random.default_rng(seed))
    name = coded.names[column]
    return data.set_column(data.column_names.index(name), name, data[name].take(order))


def _beside(found: Finding, careless: Finding, left_out: dict[str, str], covered: bool) -> Finding:
    """A finding with what the same attack gets of a careless release, and what it left out."""
    more = {"careless": {**vars(careless.success), "claim": careless.claim}, "left_out": left_out}
    return replace(
        found,
        covered=covered and found.covered if found.attack == "membership" else covered,
        details={**found.details, **more},
    )
