"""What can be audited by name: a mechanism of ours, a broken one, or a function of a file."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adomnia.audit.claims.audit_target import AuditTarget
from adomnia.audit.claims.broken_mechanisms import BROKEN_MECHANISMS, broken_mechanism
from adomnia.audit.claims.reference_mechanisms import REFERENCE_MECHANISMS, reference_mechanism
from adomnia.errors import QuestionError
from adomnia.privacy.loss import Amount, exact

__all__ = ["target_named"]

DELTA = "0.001"


def target_named(
    name: str,
    epsilon: Amount = 1,
    delta: Amount = DELTA,
    inputs: tuple[float, float] | None = None,
    seed: int = 0,
) -> AuditTarget:
    """A mechanism to be audited, by its name, with the epsilon that it claims.

    `FILE.py:FUNCTION` runs that file: a function of one input, audited at two neighbouring
    `inputs`, 0 and 1 unless given. Raises a QuestionError where there is no such mechanism.

    >>> target_named("half_noise").epsilon
    1.0
    """
    claimed = exact(epsilon)
    if ":" in name:
        data, neighbour = inputs or (0, 1)
        return AuditTarget.of(_function(name), data, neighbour, float(claimed))
    if inputs is not None:
        raise QuestionError("--data and --neighbour are for FILE.py:FUNCTION", "leave them out")
    if name in REFERENCE_MECHANISMS:
        return reference_mechanism(name, claimed, exact(delta, "delta"))
    if name in BROKEN_MECHANISMS:
        return broken_mechanism(name, float(claimed), seed)
    raise QuestionError(
        f"there is no mechanism {name[:40]!r}",
        f"ours: {', '.join(REFERENCE_MECHANISMS)}; known to be broken: "
        f"{', '.join(BROKEN_MECHANISMS)}; or FILE.py:FUNCTION",
    )


def _function(name: str) -> Callable[[Any], Any]:
    """A function of the curator's own file, which is run."""
    file, _, wanted = name.rpartition(":")
    if not Path(file).is_file():
        raise QuestionError(f"there is no file {file!r}", "for example --mechanism mine.py:answer")
    spec = importlib.util.spec_from_file_location("adomnia_claim", file)
    if spec is None or spec.loader is None:
        raise QuestionError(f"{file!r} is no Python file", "for example mine.py:answer")
    module = importlib.util.module_from_spec(spec)
    sys.modules["adomnia_claim"] = module
    spec.loader.exec_module(module)
    function = getattr(module, wanted, None)
    if not callable(function):
        raise QuestionError(f"{file!r} has no function {wanted!r}", "a function of one input")
    return function  # type: ignore[no-any-return]
