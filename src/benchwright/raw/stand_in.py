"""Inert stand-ins for the classes a result names: they hold what the pickle puts in, and never do anything."""

from __future__ import annotations

import copyreg
import functools
from collections.abc import Iterable
from typing import Any


class StandInType(type):
    """The class of stand-in classes; a class that a result merely mentions stays one of these."""

    origin: str

    def __repr__(cls) -> str:
        return f"<stand-in for {cls.origin}>"


class StandIn(dict[Any, Any], metaclass=StandInType):
    """An object of a class that is not loaded.

    ``origin`` names the class. Items set on it are its own items, since the dict subclasses of AutoGluon are what
    genuine results hold; ``args``, ``members`` and ``state`` keep what else the pickle gave.
    """

    __slots__ = ("args", "members", "state")
    origin = "object"
    args: tuple[Any, ...]
    members: list[Any]
    state: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> StandIn:  # noqa: D102
        made = super().__new__(cls)
        made.args = args
        made.members = []
        made.state = None
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # the dict's own would read the arguments as items
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def append(self, member: Any) -> None:
        """Take a list's item."""
        self.members.append(member)

    def extend(self, members: Iterable[Any]) -> None:
        """Take a list's items."""
        self.members.extend(members)

    add = append

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<stand-in for an object of {self.origin}>"

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return _revive, (type(self), self.args, self.members, self.state), None, None, iter(self.items())


@functools.lru_cache(maxsize=512)
def stand_in(origin: str) -> StandInType:
    """The stand-in class for the class with this dotted name."""
    return StandInType("StandIn", (StandIn,), {"origin": origin, "__slots__": ()})


def _revive(made_by: StandInType, args: tuple[Any, ...], members: list[Any], state: Any) -> StandIn:
    made: StandIn = made_by(*args)
    made.members = members
    made.state = state
    return made


def _reduce_class(made_by: StandInType) -> tuple[Any, ...]:
    return stand_in, (made_by.origin,)


# Stand-in classes have no importable name, so without this a result could not be sent to another process.
copyreg.pickle(StandInType, _reduce_class)  # type: ignore[arg-type]
