"""Faults outside the kernel: however wrong planning is, the promise holds.

Ranges, binding, strategies, proposals, plans and estimates decide how good an answer is. What is
promised rests on what the statement enforces and on the price that is checked before the debit.
"""

from __future__ import annotations

from tests.adversary.outside_plans import AFTER, CHOSEN, PRICES, SETTINGS
from tests.adversary.outside_proposals import PROPOSALS
from tests.adversary.outside_queries import BINDING, RANGES
from tests.adversary.planting import Fault

OUTSIDE: tuple[Fault, ...] = (
    *RANGES,
    *BINDING,
    *PROPOSALS,
    *PRICES,
    *SETTINGS,
    *CHOSEN,
    *AFTER,
)
