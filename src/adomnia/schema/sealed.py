"""Exact values in a sealed envelope: anybody may carry one, only a mechanism opens it."""

from __future__ import annotations

from typing import Any, Generic, NoReturn, TypeVar

__all__ = ["Sealed"]

T = TypeVar("T")


class Sealed(Generic[T]):
    """An exact value that cannot be printed, compared, copied or pickled.

    `adomnia.mechanisms.unseal` is the one place that looks inside; a contract on imports
    keeps it so.
    """

    __slots__ = ("__value",)

    def __init__(self, value: T) -> None:
        self.__value = value

    def __repr__(self) -> str:
        return "<sealed>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a sealed value does not travel")

    def __copy__(self) -> NoReturn:
        raise TypeError("a sealed value is not copied")

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        raise TypeError("a sealed value is not copied")

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("sealed values are not compared")

    __hash__ = None  # type: ignore[assignment]
