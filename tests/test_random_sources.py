"""Who draws by chance, and why that protects nobody: noise comes from `randomness` alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src/adomnia"

SIMULATION = "numpy.random"
"""A generator whose seed tells every draw: NumPy's own, Python's own, SciPy's."""
SYSTEM = "secrets"
"""The operating system's generator, however it is called; uuid4 is made of it."""

SEEDED = {
    "made-up people and data": ("cli/demo/census.py", "testing/worlds.py", "review/attacks.py"),
    "an attacker's questions, guesses and simulated worlds": (
        "audit/correlation/discriminant.py",
        "audit/exact_releases/prior_leak.py",
        "audit/exact_releases/rebuild.py",
        "audit/linkage/scoreboard.py",
        "audit/networks/active_attack.py",
        "audit/reconstruction/averaging.py",
        "audit/reconstruction/decoding.py",
        "audit/reconstruction/hadamard.py",
        "audit/reconstruction/subset_sums.py",
        "audit/synthetic/careless.py",
        "audit/synthetic/inference.py",
        "audit/synthetic/membership.py",
        "audit/synthetic/shadows.py",
        "audit/synthetic/singling_out.py",
        "review/microdata/microdata_steps.py",
        "priors/solver/tables/sampling.py",
    ),
    "mechanisms that are broken on purpose, for the audit to find": (
        "audit/claims/broken_mechanisms.py",
    ),
    "factors of a hash, the same in every run": ("audit/claims/outputs.py",),
    "records near measurements that have their noise already; the seed is the system's": (
        "marginals/adaptive.py",
        "marginals/core/records.py",
        "marginals/core/repair.py",
        "marginals/core/search.py",
        "marginals/release.py",
    ),
    "starts, trees and orders that are drawn without the data, or from private answers": (
        "mining/k_means.py",
        "mining/random_forest.py",
        "mining/parts/contingency.py",
        "mining/parts/random_tree.py",
    ),
    "a search for a witness, always with the same seed: what it finds is checked exactly": (
        "priors/solver/bounds/circuits.py",
        "priors/solver/graphs/cycle_search.py",
        "priors/solver/graphs/fragments.py",
    ),
    "how wide noise will be, simulated before anything is read": (
        "priors/strategy/groups.py",
        "priors/strategy/kernel_noise.py",
    ),
    "a damping chosen before anything is read, and a p-value of what was released": (
        "priors/chi_squared.py",
    ),
}
"""Modules that may use a seeded generator, by their reason."""

UNGUESSABLE = {
    "the noise itself": ("mechanisms/randomness.py",),
    "secrets, salts and names of accounts": ("server/accounts.py",),
    "keys that live as long as the process": (
        "server/credential_cache.py",
        "server/console/sessions.py",
    ),
    "tokens of pages, and of the questions that they ask": (
        "server/console/console.py",
        "server/console/views/ask.py",
    ),
    "names of streams, and secrets that cancel a question": (
        "server/http/events.py",
        "server/postgres/listener.py",
    ),
    "a nonce of a login": ("wire/protocol/scram.py",),
    "the salt of a new ledger, and the name of a batch": (
        "ledger/entry.py",
        "ledger/stores/postgres_journal.py",
    ),
    "the name of a session": ("curator/database.py",),
    "names of temporary files and tables": (
        "engines/duckdb/edition_store.py",
        "engines/duckdb/engine.py",
        "engines/postgres/edition_store.py",
        "engines/spark/edition.py",
        "engines/spark/edition_store.py",
        "engines/spark/engine.py",
        "engines/spark/reader.py",
        "engines/spark/tables.py",
        "engines/spark/tables_edition.py",
    ),
}
"""Modules that may use the operating system's generator, by their reason."""

MODULES = {"random": SIMULATION, "numpy.random": SIMULATION, "secrets": SYSTEM}
NAMES = {
    ("numpy", "random"): SIMULATION,
    ("np", "random"): SIMULATION,
    ("os", "urandom"): SYSTEM,
    ("os", "getrandom"): SYSTEM,
    ("ssl", "RAND_bytes"): SYSTEM,
    ("uuid", "uuid1"): SYSTEM,
    ("uuid", "uuid4"): SYSTEM,
}


def sources(tree: ast.AST) -> Iterator[str]:
    """The sources of chance that a module imports or uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (_of_module(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield _of_module(node.module or "")
            yield from (NAMES.get((node.module or "", alias.name), "") for alias in node.names)
        elif isinstance(node, ast.Attribute):
            owner = getattr(node.value, "id", "")
            yield SIMULATION if node.attr == "rvs" else NAMES.get((owner, node.attr), "")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (_of_module(str(getattr(part, "value", ""))) for part in node.args)


def _of_module(name: str) -> str:
    inside = (kind for module, kind in MODULES.items() if f"{name}.".startswith(f"{module}."))
    return next(inside, "")


def users(kind: str) -> set[str]:
    """The modules of the package that use a source."""
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if kind in sources(ast.parse(path.read_text("utf-8")))
    }


@pytest.mark.parametrize(("kind", "allowed"), [(SIMULATION, SEEDED), (SYSTEM, UNGUESSABLE)])
def test_chance_is_used_where_a_reason_is_given_and_nowhere_else(kind, allowed):
    listed = [module for modules in allowed.values() for module in modules]
    assert sorted(listed) == sorted(users(kind))


def test_nothing_that_answers_knows_a_seed():
    """What reads data, adds noise or keeps the ledger has no seeded generator at all."""
    rooms = ("curator/", "engines/", "ledger/", "mechanisms/", "policy/", "privacy/", "queries/")
    assert [module for module in users(SIMULATION) if module.startswith(rooms)] == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("import random", SIMULATION),
        ("from random import shuffle", SIMULATION),
        ("import numpy.random as nr", SIMULATION),
        ("from numpy import random", SIMULATION),
        ("from numpy.random import default_rng", SIMULATION),
        ("np.random.default_rng(0)", SIMULATION),
        ("x: np.random.Generator", SIMULATION),
        ("stats.norm(0, 1).rvs(3)", SIMULATION),
        ("norm.rvs(3)", SIMULATION),
        ("import_module('random')", SIMULATION),
        ("from os import urandom", SYSTEM),
        ("os.urandom(8)", SYSTEM),
        ("from uuid import uuid4", SYSTEM),
        ("import secrets", SYSTEM),
        ("from adomnia.mechanisms.randomness import SYSTEM", ""),
        ("rng.random()", ""),
        ("import numpy", ""),
    ],
)
def test_every_way_to_chance_is_seen(text, kind):
    assert {found for found in sources(ast.parse(text)) if found} == ({kind} if kind else set())
