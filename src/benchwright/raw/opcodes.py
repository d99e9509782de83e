"""The opcodes of a pickle, walked but not run: is the stream whole, and is it small once it is loaded?

CPython's unpickler believes what a stream says. A memo index makes it allocate that many slots, nested tuples are
hashed recursively until the stack is gone (a segfault at about 150,000 levels), integers with equal hashes make a
dict quadratic. A walk that takes a tenth of a millisecond settles all of that before anything is built.
Opcodes: https://github.com/python/cpython/blob/main/Lib/pickletools.py
"""

from __future__ import annotations

import pickle
import pickletools
import re

MAX_OPCODES = 4_000_000
"""A bagged result has three thousand; each may become up to 72 bytes of memory."""
MAX_COMPOUNDS = 20_000
"""Tuples, sets and long integers, the only opcodes whose number an attacker can turn into time or stack depth."""
MAX_NAME = 512
OLDEST_PROTOCOL, NEWEST_PROTOCOL = 2, 5


class BadStream(Exception):
    """A stream that is not loaded: a problem's code, what was found and what was expected."""

    def __init__(self, code: str, found: str, expected: str) -> None:
        self.code = code
        self.found = found
        self.expected = expected
        super().__init__(found)


WHOLE = "a complete pickle"
PLAIN = "what a benchmark's runner writes"

_FIXED: dict[int, bytes] = {
    1: b"".join(
        (
            pickle.MARK, pickle.POP, pickle.POP_MARK, pickle.DUP, pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE,
            pickle.EMPTY_LIST, pickle.APPEND, pickle.APPENDS, pickle.LIST, pickle.EMPTY_DICT, pickle.SETITEM,
            pickle.SETITEMS, pickle.DICT, pickle.MEMOIZE, pickle.ADDITEMS, pickle.REDUCE, pickle.BUILD,
            pickle.NEWOBJ, pickle.NEWOBJ_EX, pickle.STACK_GLOBAL,
        )
    ),
    2: pickle.BININT1 + pickle.BINGET + pickle.BINPUT,
    3: pickle.BININT2,
    5: pickle.BININT + pickle.LONG_BINGET,
    9: pickle.BINFLOAT,
}  # fmt: skip
_FIXED_CODES = b"".join(_FIXED.values())
_TEXTS_IN_RUNS = 64
"""Nearly all texts are shorter: names of metadata."""


def _any_of(codes: bytes, width: int = 1) -> bytes:
    return b"[" + b"".join(b"\\x%02x" % code for code in codes) + b"]" + b".{%d}" % (width - 1) * (width > 1)


_TUPLES_AND_SETS = (
    pickle.EMPTY_TUPLE + pickle.TUPLE + pickle.TUPLE1 + pickle.TUPLE2 + pickle.TUPLE3 + pickle.EMPTY_SET
) + pickle.FROZENSET
_ALONE = _any_of(_FIXED[1])
_LONGER = b"|".join(
    (
        re.escape(pickle.SHORT_BINUNICODE)
        + b"(?:%s)" % b"|".join(b"\\x%02x.{%d}" % (size, size) for size in range(_TEXTS_IN_RUNS)),
        *(_any_of(codes, width) for width, codes in _FIXED.items() if width > 1),
    )
)


def _runs(alone: bytes) -> re.Pattern[bytes]:
    """Any number of short texts, opcodes of fixed width, and of these ``alone``."""
    # Possessive: what was matched is never tried otherwise, and so takes no memory.
    return re.compile(b"(?:%s*+(?:%s))*+%s*+" % (alone, _LONGER, alone), re.DOTALL)


_RUN = _runs(_ALONE)
"""A walk from one to the next comes by every tuple and set, which it can count."""
_RUN_WITH_COMPOUNDS = _runs(_any_of(_FIXED[1] + _TUPLES_AND_SETS))
_SINGLE = re.compile(b"(?:%s|%s)?" % (_ALONE, _LONGER), re.DOTALL)
"""At most one of them."""

_LENGTH_BYTES = {
    pickle.SHORT_BINUNICODE[0]: 1,
    pickle.SHORT_BINBYTES[0]: 1,
    pickle.LONG1[0]: 1,
    pickle.BINUNICODE[0]: 4,
    pickle.BINBYTES[0]: 4,
    pickle.BINUNICODE8[0]: 8,
    pickle.BINBYTES8[0]: 8,
    pickle.BYTEARRAY8[0]: 8,
}
_LONG = pickle.LONG1[0]
_TOO_LONG = pickle.LONG4[0]
"""A whole number of more than 255 bytes: Python may refuse to turn it into text, and so into JSON or a message."""
_LONG_PUT = pickle.LONG_BINPUT[0]
_FRAME = pickle.FRAME[0]
_GLOBAL = pickle.GLOBAL[0]
_STOP = pickle.STOP[0]


def scan(data: bytes) -> None:
    """Walk a whole pickle.

    Raises:
        BadStream: it is not a pickle of protocol 2 to 5, it ends early or goes on after its end, it uses an opcode
            that a result has no use for (persistent ids, extension codes, out-of-band buffers, text opcodes), or it
            would grow beyond reason in memory.
    """
    check_protocol(data)
    try:
        # A run of opcodes is taken for as many as it has bytes. Where that is too many, they are counted one by one.
        if _walk(data, _RUN_WITH_COMPOUNDS, MAX_COMPOUNDS) <= MAX_COMPOUNDS:
            return  # nearly every result
        if _walk(data, _RUN, MAX_OPCODES) > MAX_OPCODES and _walk(data, _SINGLE, MAX_OPCODES, 1) > MAX_OPCODES:
            raise BadStream("too-complex", f"more than {MAX_OPCODES:,} opcodes", PLAIN)
    except (IndexError, OverflowError):  # the latter for a length that no file has
        raise BadStream("truncated", f"the pickle ends early, at byte {len(data):,}", WHOLE) from None


def _walk(data: bytes, run: re.Pattern[bytes], most: int, longest: int = MAX_OPCODES) -> int:
    """Walk a pickle from run to run; how many opcodes it has at most, counting up to ``longest`` for a run.

    The walk ends where that becomes more than ``most``.

    Raises:
        BadStream: as `scan`.
        IndexError: it ends early.
    """
    count, compounds, position = 0, 0, 2
    match = run.match
    while count < most:
        end = match(data, position, position + most).end()  # type: ignore[union-attr]  # it may be empty
        size = end - position
        count += size if size < longest else longest
        code = data[end]
        if code in _TUPLES_AND_SETS:
            compounds += 1
            position = end + 1
        elif code == _STOP:
            _check_end(data, end, compounds)
            return count + 1
        elif code in _FIXED_CODES:
            if not size:
                raise IndexError
            position = end
            continue
        else:
            compounds += code == _LONG
            position = _after_variable(data, end, code, count)
        count += 1
    return most + 1


def _check_end(data: bytes, end: int, compounds: int) -> None:
    """Refuse what is too complex, and what goes on after the STOP at ``end``."""
    if compounds > MAX_COMPOUNDS:
        raise BadStream("too-complex", f"{compounds:,} tuples, sets and long integers", f"at most {MAX_COMPOUNDS:,}")
    if end + 1 != len(data):
        raise BadStream("trailing-data", f"{len(data) - end - 1:,} bytes after the pickle's end", WHOLE)


def check_protocol(data: bytes) -> None:
    """Look at a pickle's first two bytes; BadStream if they are none of a pickle of protocol 2 to 5."""
    if data[:1] != pickle.PROTO:
        raise BadStream("not-a-pickle", "not a pickle (its first byte is none of a pickle's)", WHOLE)
    if len(data) < 2:
        raise BadStream("truncated", "the pickle ends early, at byte 1", WHOLE)
    if not OLDEST_PROTOCOL <= data[1] <= NEWEST_PROTOCOL:
        raise BadStream("unsupported-pickle", f"pickle protocol {data[1]}", "protocol 2 to 5")


def _after_variable(data: bytes, position: int, code: int, count: int) -> int:
    """The position after an opcode of variable length; IndexError or a larger position when it is cut off."""
    if code == _TOO_LONG:
        raise BadStream("too-large", f"a whole number of more than 600 digits at byte {position:,}", PLAIN)
    if code in _LENGTH_BYTES:
        body = position + 1 + _LENGTH_BYTES[code]
        return body + int.from_bytes(data[position + 1 : body], "little")
    if code == _LONG_PUT:
        # A pickler numbers what it memoises; the unpickler allocates up to the number, whatever it is.
        if int.from_bytes(data[position + 1 : position + 5], "little") > count:
            raise BadStream("unsupported-pickle", f"a memo index out of order at byte {position:,}", PLAIN)
        return position + 5
    if code == _FRAME:
        if position + 9 + int.from_bytes(data[position + 1 : position + 9], "little") > len(data):
            raise IndexError
        return position + 9
    if code == _GLOBAL:
        end = position + 1
        for _ in range(2):
            end = data.find(b"\n", end, end + MAX_NAME) + 1
            if end == 0:
                raise BadStream("not-a-pickle", f"a global without a name at byte {position:,}", WHOLE)
        return end
    known = next((each.name for each in pickletools.opcodes if each.code == chr(code)), None)
    if known is None:
        raise BadStream("not-a-pickle", f"byte {code:#04x} at {position:,} is no opcode", WHOLE)
    raise BadStream("unsupported-pickle", f"opcode {known} at byte {position:,}", PLAIN)
