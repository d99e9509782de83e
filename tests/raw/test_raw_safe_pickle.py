"""Pickles that would run code, eat the machine or break the interpreter; and honest ones of every kind."""

from __future__ import annotations

import collections
import datetime
import enum
import gzip
import pathlib
import pickle
import struct
import sys
import types
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.contract import Failure
from benchwright.raw import load_result, safe_pickle
from benchwright.raw.names import verdict
from benchwright.raw.opcodes import MAX_COMPOUNDS, BadStream
from benchwright.raw.rebuild import plain_array
from benchwright.raw.safe_pickle import loads
from benchwright.raw.stand_in import StandIn, stand_in

P4 = b"\x80\x04"


def text(value: str) -> bytes:
    return pickle.SHORT_BINUNICODE + bytes([len(value)]) + value.encode()


def name(module: str, attribute: str) -> bytes:
    return text(module) + text(attribute) + pickle.STACK_GLOBAL


def refusal(data: bytes) -> BadStream:
    with pytest.raises(BadStream) as error:
        loads(data)
    return error.value


class Calls:
    """Pickles as a call of ``module.attribute`` on ``args``."""

    def __init__(self, module: str, attribute: str, args: tuple[Any, ...]) -> None:
        self.module, self.attribute, self.args = module, attribute, args

    def pickled(self, protocol: int) -> bytes:
        if protocol < 4:
            found = pickle.GLOBAL + f"{self.module}\n{self.attribute}\n".encode()
        else:
            found = name(self.module, self.attribute)
        args = pickle.dumps(self.args, protocol)[2:-1]
        return pickle.PROTO + bytes([protocol]) + found + args + pickle.REDUCE + pickle.STOP


DANGEROUS = [
    *[("os", each) for each in ("system", "popen", "execv", "remove")],
    ("posix", "system"),
    ("nt", "system"),
    ("subprocess", "Popen"),
    ("subprocess", "check_output"),
    *[("builtins", each) for each in ("eval", "exec", "getattr", "setattr", "__import__", "open", "compile", "print")],
    ("__builtin__", "eval"),
    ("sys", "exit"),
    ("socket", "create_connection"),
    ("shutil", "rmtree"),
    ("importlib", "import_module"),
    ("importlib.machinery", "SourceFileLoader"),
    ("runpy", "run_path"),
    ("pickle", "loads"),
    ("_pickle", "loads"),
    ("marshal", "loads"),
    ("ctypes", "CDLL"),
    ("pty", "spawn"),
    ("webbrowser", "open"),
    ("operator", "attrgetter"),
    ("_operator", "methodcaller"),
    ("functools", "reduce"),
    ("types", "FunctionType"),
    ("code", "interact"),
    ("timeit", "timeit"),
    ("pip", "main"),
    ("urllib.request", "urlopen"),
    ("_codecs", "lookup"),
    *[("numpy", each) for each in ("load", "save", "savez", "savetxt", "loadtxt", "genfromtxt", "fromfile", "memmap")],
    *[
        ("numpy", each)
        for each in ("DataSource", "fromregex", "frompyfunc", "vectorize", "ndarray.tofile", "core.memmap")
    ],
    ("numpy.lib.npyio", "NpzFile"),
    ("numpy.ctypeslib", "load_library"),
    ("numpy.memmap", "memmap"),
    ("numpy.testing._private.utils", "runstring"),
    ("pandas", "eval"),
    ("pandas.io.pickle", "read_pickle"),
    ("pandas.io.pytables", "HDFStore"),
    ("pandas", "HDFStore"),
    ("pandas", "DataFrame.to_csv"),
    ("pandas.core.frame", "DataFrame.to_csv"),
    ("pathlib", "Path.unlink"),
    ("collections", "namedtuple"),
    ("sklearn.utils", "_joblib.load"),
    ("autogluon.tabular", "TabularPredictor.load"),
    ("torch.hub", "load"),
    ("autogluon.common.loaders.load_pkl", "load"),
    ("numpy.lib.format", "os.system"),
    ("json", "codecs.open"),
    ("tabarena.benchmark", "__class__.mro"),
    ("sklearn.unknown", "exec"),
    ("innocent_looking", "Model"),
    ("torch.nn", "Linear"),
    ("sklearnish.model", "Model"),
    ("pandasx", "DataFrame"),
]


@pytest.mark.parametrize(("module", "attribute"), DANGEROUS)
@pytest.mark.parametrize("protocol", [2, 4])
def test_dangerous_name_refuses_the_file_by_name(module, attribute, protocol) -> None:
    error = refusal(Calls(module, attribute, ("true",)).pickled(protocol))
    assert error.code == "dangerous-pickle"
    assert error.found == f"names {module}.{attribute}, which could run code"


class Bomb:
    def __init__(self, marker: pathlib.Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return exec, (f"open({str(self.marker)!r}, 'w').close()",)


def test_result_that_would_run_code_is_one_problem_and_is_never_run(content, written, tmp_path) -> None:
    marker = tmp_path / "ran"
    value = content("binary")
    value["method_metadata"]["bomb"] = Bomb(marker)
    path = written(value)
    with pytest.raises(Failure) as failure:
        load_result(path)
    assert str(failure.value) == (
        f"{path}: names builtins.exec, which could run code, expected what a benchmark's runner writes\n"
        "    fix: do not load it with anything else; ask whoever made it, and run this item again"
    )
    assert not marker.exists()
    with gzip.open(path) as file:
        pickle.load(file)
    assert marker.exists(), "the file was a real attack"


def test_nothing_that_a_file_names_is_imported(tmp_path, monkeypatch) -> None:
    (tmp_path / "innocent_looking.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    refusal(Calls("innocent_looking", "Model", (1, 2)).pickled(4))
    assert "innocent_looking" not in sys.modules
    before = set(sys.modules)
    made = loads(Calls("sklearn.nowhere", "Model", (1, 2)).pickled(4))
    assert type(made).origin == "sklearn.nowhere.Model"
    assert set(sys.modules) == before


# ---------------------------------------------------------------- honest content


GONE = "sklearn.gone"


class Colour(enum.Enum):
    RED = 1


Point = collections.namedtuple("Point", "x y")


class Params(dict):
    pass


class Names(list):
    pass


class WithState:
    def __init__(self) -> None:
        self.alpha = 0.5


@pytest.fixture
def gone(monkeypatch) -> types.ModuleType:
    """A module whose classes can be pickled by name and are no longer there when the file is read."""
    module = types.ModuleType(GONE)
    for made in (Colour, Point, Params, Names, WithState):
        monkeypatch.setattr(made, "__module__", GONE)
        setattr(module, made.__name__, made)
    monkeypatch.setitem(sys.modules, "sklearn", types.ModuleType("sklearn"))
    sys.modules[GONE] = module
    yield module
    sys.modules.pop(GONE, None)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_classes_of_the_runner_and_its_libraries_load_as_inert_stand_ins(gone, protocol) -> None:
    params, names = Params(a=1), Names([1, 2])
    data = pickle.dumps(
        [params, names, WithState(), Colour.RED, Point(1, 2), WithState, {Point(1, 2): "key"}], protocol
    )
    del sys.modules[GONE]
    params, names, state, colour, point, mentioned, keyed = loads(data)
    assert dict(params) == {"a": 1}
    assert names.members == [1, 2]
    assert state.state == {"alpha": 0.5}
    assert colour.args == (1,)
    assert point.args == (1, 2)
    assert repr(mentioned) == "<stand-in for sklearn.gone.WithState>"
    assert list(keyed.values()) == ["key"]
    assert {type(each).origin for each in (params, names, state)} == {
        f"{GONE}.{name}" for name in ("Params", "Names", "WithState")
    }


def test_standard_values_load() -> None:
    value = {
        "ordered": collections.OrderedDict(a=1),
        "default": collections.defaultdict(list, b=[2]),
        "set": {1, 2},
        "frozen": frozenset("ab"),
        "complex": 1 + 2j,
        "bytes": (b"x", bytearray(b"y")),
        "long": 2**80,
        "nested": [(1, (2, (3,)))],
        "none": None,
        "text": "ä" * 300,
    }
    for protocol in (2, 3, 4, 5):
        assert loads(pickle.dumps(value, protocol)) == value


def test_genuine_results_mention_no_more_than_these_names(genuine_files, monkeypatch) -> None:
    mentioned = {}
    monkeypatch.setattr(
        safe_pickle, "verdict", lambda module, name: mentioned.setdefault(f"{module}.{name}", verdict(module, name))
    )
    for path in genuine_files:
        load_result(path)
    params, own = "autogluon.core.models.abstract", "tabarena.benchmark.preprocessing"
    assert mentioned == {
        "numpy._core.multiarray._reconstruct": "rebuild",
        "numpy._core.multiarray.scalar": "rebuild",
        "numpy.dtype": "rebuild",
        "numpy.ndarray": "stand-in",
        f"{params}._auxiliary_params.ParamsAuxDict": "stand-in",
        f"{params}._mutation_deprecated_dict.ParamsDict": "stand-in",
        "autogluon.features.generators.identity.IdentityFeatureGenerator": "stand-in",
        f"{own}.model_agnostic_default_preprocessing.TabArenaModelAgnosticPreprocessing": "stand-in",
        f"{own}.model_specific_default_preprocessing.ModelSpecificFeatureGenerator": "stand-in",
        f"{own}.model_specific_default_preprocessing.NoCatAsStringCategoryFeatureGenerator": "stand-in",
    }


def test_of_numpy_only_rebuilders_and_types_of_values_are_taken() -> None:
    taken = {name: verdict("numpy", name) for name in dir(np) if verdict("numpy", name) != "refuse"}
    assert {name for name in taken if not issubclass(getattr(np, name), np.generic)} == {"dtype", "ndarray"}
    assert [name for name, given in taken.items() if given == "rebuild"] == ["dtype"]
    assert {kind.__name__ for kind in np.sctypeDict.values()} <= set(taken)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_what_pandas_makes_its_own_of_becomes_stand_ins(protocol) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": pd.Categorical(["p", "q"])}, index=["u", "v"])
    values = [frame, frame["a"], frame.index, pd.Timestamp("2026-01-02"), pd.Timedelta("1D"), pd.Period("2026"), pd.NaT]
    loaded = loads(pickle.dumps(values, protocol))
    assert all(isinstance(each, StandIn) for each in loaded)


def test_paths_dates_and_types_become_stand_ins() -> None:
    path, day, kind = loads(pickle.dumps([pathlib.PurePosixPath("/a"), datetime.date(2026, 1, 2), int]))
    assert type(path).origin == "pathlib.PurePosixPath"
    assert type(day).origin == "datetime.date"
    assert kind is stand_in("builtins.int")


ARRAYS = [
    np.arange(6).reshape(2, 3).astype(dtype)
    for dtype in ("i1", "u2", "<i4", ">i8", "f2", "<f4", ">f4", "f8", "c8", "?")
] + [
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array(3.5),
    np.zeros((0, 4), np.float32),
    np.array(["a", "bcd"]),
    np.array([b"a", b"bcd"]),
    np.array(["a", 1, None], dtype=object),
    np.arange(5_000.0),
]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_arrays_come_back_equal(array, protocol) -> None:
    loaded = plain_array(loads(pickle.dumps(array, protocol)))
    assert type(loaded) is np.ndarray
    assert loaded.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(loaded, array)


@pytest.mark.parametrize("scalar", [np.float64(0.1), np.float32(1), np.int16(-3), np.bool_(True), np.str_("x")])
@pytest.mark.parametrize("protocol", [2, 4])
def test_numpy_scalars_come_back(scalar, protocol) -> None:
    loaded = loads(pickle.dumps(scalar, protocol))
    assert (type(loaded), loaded) == (type(scalar), scalar)


def test_names_of_numpy_before_2_load() -> None:
    data = pickle.dumps(np.arange(3.0), 2).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    assert b"numpy.core" in data
    np.testing.assert_array_equal(loads(data), np.arange(3.0))


def test_what_is_loaded_can_be_sent_to_another_process(gone) -> None:
    value = [Params(a=1), WithState(), np.arange(3), collections.OrderedDict, WithState, np.dtype("<f4")]
    data = pickle.dumps(value)
    del sys.modules[GONE]
    params, state, array, ordered, mentioned, dtype = pickle.loads(pickle.dumps(loads(data)))
    assert (dict(params), type(params).origin) == ({"a": 1}, f"{GONE}.Params")
    assert state.state == {"alpha": 0.5}
    assert (type(array), array.tolist()) == (np.ndarray, [0, 1, 2])
    assert (ordered.origin, mentioned.origin) == ("collections.OrderedDict", f"{GONE}.WithState")
    assert dtype == np.dtype("<f4")


# ---------------------------------------------------------------- numpy as a way in

RECONSTRUCT = name("numpy._core.multiarray", "_reconstruct") + name("numpy", "ndarray") + b"K\x00\x85C\x01b\x87R"


def dtype(code: str, state: bytes = b"(K\x03" + text("<") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb") -> bytes:
    return name("numpy", "dtype") + text(code) + b"\x89\x88\x87R" + state


def array_of(shape: bytes, kind: bytes, data: bytes) -> bytes:
    return P4 + RECONSTRUCT + b"(K\x01" + shape + kind + b"\x89" + data + b"tb."


def test_hand_made_array_is_accepted_as_the_control() -> None:
    loaded = loads(array_of(b"K\x02\x85", dtype("i1"), b"C\x02\x01\x02"))
    np.testing.assert_array_equal(loaded, [1, 2])


HOSTILE_ARRAYS = {
    "object pointers from bytes": array_of(b"K\x01\x85", dtype("O8"), b"C\x08AAAAAAAA"),
    "object list too short": array_of(b"J\x00\x00\x00\x40\x85", dtype("O8"), b"]"),
    "bytes too short": array_of(b"J\x00\x00\x00\x40\x85", dtype("f8"), b"C\x02ab"),
    "negative side": array_of(b"J\xff\xff\xff\xff\x85", dtype("i1"), b"C\x00"),
    "huge empty side": array_of(b"K\x00\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x86", dtype("f8"), b"C\x00"),
    "float side": array_of(b"G" + struct.pack(">d", 2.0) + b"\x85", dtype("i1"), b"C\x02ab"),
    "bool side": array_of(b"\x88\x85", dtype("i1"), b"C\x01a"),
    "65 dimensions": array_of(b"(" + b"K\x01" * 65 + b"t", dtype("i1"), b"C\x01a"),
    "shape no tuple": array_of(b"K\x02", dtype("i1"), b"C\x02ab"),
    "dtype no dtype": array_of(b"K\x02\x85", text("i1"), b"C\x02ab"),
    "state too short": P4 + RECONSTRUCT + b"K\x01\x85b.",
    "state no tuple": P4 + RECONSTRUCT + b"}b.",
    "void dtype": array_of(b"K\x01\x85", dtype("V8"), b"C\x08AAAAAAAA"),
    "dates": array_of(b"K\x01\x85", dtype("M8"), b"C\x08AAAAAAAA"),
    "fields": array_of(
        b"K\x01\x85",
        dtype("i8", b"(K\x03" + text("<") + b"N" + text("a") + b"\x85}K\x08K\x01K\x00tb"),
        b"C\x08AAAAAAAA",
    ),
    "odd byte order": array_of(b"K\x01\x85", dtype("i1", b"(K\x03" + text("x") + b"NNNK\x00K\x00K\x00tb"), b"C\x01a"),
    "huge strings": array_of(b"K\x01\x85", dtype("S9999999"), b"C\x01a"),
    "dtype of a dtype": array_of(b"K\x01\x85", name("numpy", "dtype") + dtype("i1") + b"\x85R", b"C\x01a"),
    "scalar of an object": P4 + name("numpy._core.multiarray", "scalar") + dtype("O8") + b"C\x08AAAAAAAA\x86R.",
    "scalar too short": P4 + name("numpy._core.multiarray", "scalar") + dtype("f8") + b"C\x02AA\x86R.",
    "scalar of nothing": P4 + name("numpy._core.multiarray", "scalar") + dtype("S0") + b"C\x00\x86R.",
    "array as a class": P4 + name("numpy", "ndarray") + b"K\x01\x85\x81}b" + b"N\x85R.",
    "buffer of a number": P4 + name("numpy._core.numeric", "_frombuffer") + b"(K\x07" + dtype("i1") + b"K\x07\x85"
    + text("C") + b"tR.",
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE_ARRAYS)
def test_hostile_arrays_are_refused(case) -> None:
    assert refusal(HOSTILE_ARRAYS[case]).code in {"unsupported-pickle", "not-a-pickle"}


# ---------------------------------------------------------------- streams that eat time or memory

SET = name("builtins", "set")
P61 = 2**61 - 1
HOSTILE_STREAMS = {
    "memo index of two billion": (P4 + b"Nr\xff\xff\xff\x7f.", "unsupported-pickle"),
    "tuples deep enough to overflow the stack": (
        P4 + b"})" + b"\x85" * 150_000 + b"Ns.",
        "too-complex",
    ),
    "tuples one below the limit": (P4 + b"})" + b"\x85" * (MAX_COMPOUNDS - 2) + b"Ns.", None),
    "lists a million deep": (P4 + b"]" + b"]" * 1_000_000 + b"a" * 1_000_000 + b".", None),
    "equal hashes": (
        P4 + b"}(" + b"".join(b"\x8a\x0c" + (i * P61).to_bytes(12, "little") + b"N" for i in range(30_000)) + b"u.",
        "too-complex",
    ),
    "sets": (P4 + b"\x8f0" * 30_000 + b"N.", "too-complex"),
    "a list copied into sets without end": (
        P4 + SET + b"\x94(" + b"".join(b"M" + i.to_bytes(2, "little") for i in range(50_000)) + b"l\x85\x94"
        + b"h\x00h\x01R" * 5_000 + b".",
        "too-complex",
    ),
    "bytes copied into byte arrays without end": (
        P4 + name("builtins", "bytearray") + b"\x94B" + (2**20).to_bytes(4, "little") + bytes(2**20) + b"\x85\x94"
        + b"h\x00h\x01R" * 5_000 + b".",
        "too-complex",
    ),
    "a list of itself": (P4 + b"]\x94h\x00a.", None),
    "persistent id": (P4 + text("x") + b"Q.", "unsupported-pickle"),
    "text persistent id": (P4 + b"Px\n.", "unsupported-pickle"),
    "extension code": (P4 + b"\x82\x01.", "unsupported-pickle"),
    "out-of-band buffer": (b"\x80\x05\x97.", "unsupported-pickle"),
    "read-only buffer": (b"\x80\x05N\x98.", "unsupported-pickle"),
    "protocol 0": (b"cos\nsystem\n(S'true'\ntR.", "not-a-pickle"),
    "protocol 6": (b"\x80\x06N.", "unsupported-pickle"),
    "protocol 0 inside": (P4 + b"I1\n.", "unsupported-pickle"),
    "instance": (P4 + b"(ios\nsystem\n.", "unsupported-pickle"),
    "unknown opcode": (P4 + b"\xff.", "not-a-pickle"),
    "bytes of four exabytes": (P4 + b"\x8e" + b"\xff" * 7 + b"\x3f" + b"x.", "truncated"),
    "text of 4 GB": (P4 + b"X\xff\xff\xff\xffx.", "truncated"),
    "long of 4 GB": (P4 + b"\x8b\xff\xff\xff\xffx.", "too-large"),
    "long of 256 bytes": (pickle.dumps(1 << 2040, 4), "too-large"),
    "long of 255 bytes": (pickle.dumps(1 << 2038, 4), None),
    "frame of four exabytes": (P4 + b"\x95" + b"\xff" * 7 + b"\x3f" + b"N.", "truncated"),
    "no stop": (P4 + b"N", "truncated"),
    "one byte": (b"\x80", "truncated"),
    "trailing data": (P4 + b"N.N.", "trailing-data"),
    "empty stack": (P4 + b".", "not-a-pickle"),
    "memo never set": (P4 + b"h\x07.", "not-a-pickle"),
    "no mark": (P4 + b"t.", "not-a-pickle"),
    "unhashable key": (P4 + b"}]Ns.", "not-a-pickle"),
    "calling a number": (P4 + b"K\x01)R.", "not-a-pickle"),
    "state on a dict": (P4 + b"}}" + text("a") + b"Nsb.", "not-a-pickle"),
    "global without a name": (P4 + b"cnumpy.", "not-a-pickle"),
    "name of a kilobyte": (P4 + b"X\x00\x04\x00\x00" + b"a" * 1024 + text("b") + b"\x93.", "unsupported-pickle"),
    "name that is no text": (P4 + b"K\x01K\x02\x93.", "not-a-pickle"),
    "name with a zero byte": (P4 + name("a\0", "b\n") + b".", "dangerous-pickle"),
    "half a surrogate": (P4 + b"\x8c\x03\xed\xa0\x80.", None),
    "not UTF-8": (P4 + b"\x8c\x01\xff.", "not-a-pickle"),
}  # fmt: skip


@pytest.mark.timeout(120)
@pytest.mark.parametrize("case", HOSTILE_STREAMS)
def test_hostile_streams_are_refused_or_harmless(case) -> None:
    data, code = HOSTILE_STREAMS[case]
    if code is None:
        loads(data)
    else:
        assert refusal(data).code == code


@pytest.mark.parametrize("case", HOSTILE_STREAMS)
def test_hostile_streams_in_a_file_are_problems(case, tmp_path) -> None:
    for compress in (gzip.compress, bytes):
        path = tmp_path / "results.pkl"
        path.write_bytes(compress(HOSTILE_STREAMS[case][0]))
        with pytest.raises(Failure) as failure:
            load_result(path)
        assert [problem.where for problem in failure.value.problems] == [str(path)]
        assert str(failure.value).isascii()


@pytest.mark.parametrize(
    "target", [name("numpy", "dtype"), SET, name("sklearn.gone", "Thing"), RECONSTRUCT, dtype("i1")]
)
@pytest.mark.parametrize("state", [b"N}(" + text("_build") + b"Nu\x86b", b"}(" + text("__call__") + b"Nub", b"K\x01b"])
def test_a_file_cannot_change_what_loads_the_next(target, state) -> None:
    refusal(P4 + target + state + b".")
    np.testing.assert_array_equal(loads(pickle.dumps(np.arange(3))), [0, 1, 2])
    assert loads(pickle.dumps({1, 2}, 2)) == {1, 2}


def test_a_stand_in_takes_anything_and_does_nothing() -> None:
    made = loads(
        P4 + name("sklearn.gone", "Thing") + b")R" + b"(K\x01K\x02e" + text("k") + b"K\x05s" + b"K\x09b" + b"."
    )
    assert isinstance(made, StandIn)
    assert (made.members, dict(made), made.state) == ([1, 2], {"k": 5}, 9)
    assert made != 1
    assert repr(made) == "<stand-in for an object of sklearn.gone.Thing>"


@pytest.mark.timeout(120)
@pytest.mark.parametrize("declared", [None, 1_000, 2**32 - 1], ids=["honest length", "short length", "4 GB length"])
def test_gzip_bombs_are_stopped(tmp_path, declared) -> None:
    bomb = bytearray(gzip.compress(bytes(256 * 2**20), 9))
    if declared is not None:
        bomb[-4:] = struct.pack("<I", declared)
    path = tmp_path / "results.pkl"
    path.write_bytes(bomb)
    with pytest.raises(Failure) as failure:
        load_result(path)
    assert failure.value.problems[0].code == "too-large"
