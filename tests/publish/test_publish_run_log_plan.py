"""The plan of a run script as text that stands alone: the same calls, no names from elsewhere, comments kept."""

from __future__ import annotations

import re
import textwrap
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.contract import Exit, Failure
from run_scripts import OLDER, OLDER_PLAN, PATHS, TOP, calls_of, free_names, plan_of


def script(setup: str, before: str = "") -> str:
    """A run script with a ``setup()`` of its own; ``before`` stands above it."""
    return f"{TOP}{PATHS}{textwrap.dedent(before)}{textwrap.dedent(setup).lstrip()}"


def test_the_body_stands_alone_with_its_comments_and_layout(tmp_path):
    assert plan_of(tmp_path, OLDER) == OLDER_PLAN
    assert calls_of(OLDER_PLAN) == calls_of(OLDER)


def test_line_ends_of_windows_change_nothing(tmp_path):
    assert plan_of(tmp_path, OLDER.replace("\n", "\r\n")) == OLDER_PLAN


SCRIPTS = {
    "a name in an f-string keeps its assignment": (
        """
        def setup():
            Plan(f"{BENCHMARK_NAME}_é", MODEL, BENCHMARK_NAME)
        """,
        "",
        'BENCHMARK_NAME = "tabm_01022030"\n\nPlan(f"{BENCHMARK_NAME}_é", "TabM", BENCHMARK_NAME)\n',
    ),
    "a long constant keeps its place and layout": (
        """
        def setup():
            Plan(SLOW, one_by_one=dict.fromkeys(SLOW, NUM_CONFIGS))
        """,
        """
        SLOW = [
            "a",  # four hours
            MODEL,
        ]


        """,
        'SLOW = [\n    "a",  # four hours\n    "TabM",\n]\n\nPlan(SLOW, one_by_one=dict.fromkeys(SLOW, 0))\n',
    ),
    "a helper with arguments is kept whole": (
        """
        def setup():
            Plan([job("gpu", 16 * HOUR)])
        """,
        """
        HOUR = 3600


        def job(name, limit):
            # one kind of job
            return ModelJob(models=(MODEL, NUM_CONFIGS), name=name, resources={"time_limit": limit})
            # nothing else


        """,
        'def job(name, limit):\n    # one kind of job\n    return ModelJob(models=("TabM", 0), name=name, '
        'resources={"time_limit": limit})\n    # nothing else\n\n\nPlan([job("gpu", 16 * 3600)])\n',
    ),
    "a helper with a body of its own is kept whole": (
        """
        def setup():
            Plan(path_setup=_paths())
        """,
        """
        def _paths():
            from tabflow_slurm import PathSetup as Paths

            return Paths(WORKSPACE)
        """,
        None,
    ),
    "a helper of several lines is indented as its place is": (
        """
        def setup():
            plan = Plan(
                jobs=[
                    _job(),
                ],
            )
            plan.setup_jobs()
        """,
        """
        def _job():
            return ModelJob(
                models=(MODEL, NUM_CONFIGS),

                name="gpu",
            )
        """,
        'plan = Plan(\n    jobs=[\n        ModelJob(\n            models=("TabM", 0),\n\n            name="gpu",\n'
        "        ),\n    ],\n)\nplan.setup_jobs()\n",
    ),
    "helpers of helpers": (
        """
        def setup():
            Plan(_outer())
        """,
        """
        def _inner():
            return -NUM_CONFIGS or "none"


        def _outer():
            return [_inner(), _inner().__class__]
        """,
        'Plan([(-0 or "none"), (-0 or "none").__class__])\n',
    ),
    "helpers that call each other": (
        """
        def setup():
            Plan(_even.__name__)
        """,
        """
        def _even():
            return _odd()


        def _odd():
            return _even()
        """,
        None,
    ),
    "a text of several lines in a helper": (
        """
        def setup():
            if True:
                Plan(_note())
        """,
        '''
        def _note():
            return """one
          two
        three"""
        ''',
        None,
    ),
    "literals keep their meaning wherever they stand": (
        """
        def setup():
            Plan(BELOW**2, ONE.bit_length(), PAIR[0], *PAIR, TWO[1:], -BELOW, not PAIR, WORDS + "c")
        """,
        """
        BELOW = -2
        ONE = 1
        PAIR = 1, 2
        TWO = ("a", "b")
        WORDS = "a" "b"
        """,
        'Plan((-2)**2, (1).bit_length(), (1, 2)[0], *(1, 2), ("a", "b")[1:], -(-2), not (1, 2), "a" "b" + "c")\n',
    ),
    "a name that another scope has too": (
        """
        def setup():
            Plan([MODEL for MODEL in ("a", "b")], (lambda NUM_CONFIGS: NUM_CONFIGS)(7), WORKSPACE)
        """,
        "",
        'Plan([MODEL for MODEL in ("a", "b")], (lambda NUM_CONFIGS: NUM_CONFIGS)(7), "/shared/workspace")\n',
    ),
    "a name bound twice": (
        """
        def setup():
            Plan(LIMIT, QUEUE)
        """,
        """
        LIMIT = 1
        if LIMIT:
            LIMIT = 2
            QUEUE = "long"
        else:
            QUEUE = "short"
        """,
        None,
    ),
    "a list that is added to": (
        """
        def setup():
            Plan(JOBS)
        """,
        """
        JOBS = []
        JOBS.append(ModelJob(MODEL))
        JOBS += [1]
        """,
        None,
    ),
    "several statements on a line": (
        """
        def setup(): Plan(A, B, [MODEL]); Plan(2)
        """,
        """
        A = [1,
             2]; B = {3:
             4}
        """,
        None,
    ),
    "a path that is written out": (
        """
        def setup():
            Plan(CACHE)
        """,
        'CACHE = Path("/shared/cache")\n',
        'from pathlib import Path\nfrom tabflow_slurm import Plan\n\nPlan(Path("/shared/cache"))\n',
    ),
    "texts of several lines in the body are not indented anew": (
        '''
        def setup():
            """What it does."""
            Plan("""one
            two {MODEL}
              three""", "a\\
            b",
          MODEL)
        # not its own
        ''',
        "",
        'Plan("""one\n    two {MODEL}\n      three""", "a\\\n    b",\n"TabM")\n',
    ),
    "an f-string of several lines is not indented anew": (
        '''
        def setup():
            Plan(f"""one
              {NUM_CONFIGS + 1}
            {f"{MODEL}"} two""",
                 MODEL)
        ''',
        "",
        None,
    ),
    "a body that returns": (
        """
        def setup() -> Plan:
            if not NUM_CONFIGS:
                return Plan(MODEL)
        """,
        "",
        'def setup() -> Plan:\n    if not 0:\n        return Plan("TabM")\n',
    ),
    "a body whose inner function changes its names": (
        """
        def setup():
            count = 0
            def more():
                nonlocal count
                count += 1
            more()
            Plan(count)
        """,
        "",
        None,
    ),
    "a local name that a helper needs as the module's": (
        """
        def setup():
            tag = "local"
            Plan(tag, job(1))
        """,
        """
        tag = f"{MODEL}-of-the-module"


        def job(number):
            return [tag, number]


        """,
        None,
    ),
    "a header of several lines": (
        """
        def setup(
        ) -> dict[
            str, int
        ]:  # of no use
            # the first comment
            Plan({"a": MODEL}, key=lambda x: x)
        """.replace("key=lambda x: x", "key=(lambda x: x)(3)"),
        "",
        '# the first comment\nPlan({"a": "TabM"}, key=(lambda x: x)(3))\n',
    ),
    "tabs": (
        "def setup():\n\tif True:\n\t\tPlan(MODEL)  # é\n\tPlan(2)\n",
        "",
        'if True:\n\tPlan("TabM")  # é\nPlan(2)\n',
    ),
    "no statement but its docstring": ('def setup():\n    """Nothing."""\n', "", "pass\n"),
    "a decorator": (
        """
        @staticmethod
        def setup():
            Plan(1)
        """,
        "",
        None,
    ),
    "annotated constants": (
        """
        def setup():
            Plan(SCALE, UNSET)
        """,
        """
        SCALE: float = 1.5
        UNSET: str | None = None
        """,
        "Plan(1.5, None)\n",
    ),
}


@pytest.mark.parametrize(("setup", "before", "expected"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_plan_makes_the_calls_of_its_script(tmp_path, setup, before, expected):
    source = script(setup, before)
    plan = plan_of(tmp_path, source)
    assert free_names(plan) == set()
    assert calls_of(plan) == calls_of(source)
    if expected is not None:
        head = plan.removesuffix(expected)
        assert head != plan, plan
        assert re.fullmatch(r"((from .*)?\n)*", head), plan


def test_names_of_a_star_import_come_with_it(tmp_path):
    source = "from tabflow_slurm import *\nMODEL = 'A'\ndef setup():\n    Plan(MODEL)\n"
    assert plan_of(tmp_path, source) == "from tabflow_slurm import *\n\nPlan('A')\n"
    assert calls_of(plan_of(tmp_path, source)) == calls_of(source)


def test_long_imports_are_a_name_a_line(tmp_path):
    names = [f"AVeryLongName{number:02}" for number in range(12)]
    imports = f"from tabflow_slurm import ({', '.join(names)}, NotNeeded)\n"
    plan = plan_of(tmp_path, f"{imports}def setup():\n    x = [{', '.join(names)}]\n")
    listed = "".join(f"    {name},\n" for name in names)
    assert plan == f"from tabflow_slurm import (\n{listed})\n\nx = [{', '.join(names)}]\n"


def test_with_arguments_the_whole_function_stands(tmp_path):
    source = script("def setup(args: argparse.Namespace) -> Path:\n    Plan(MODEL, args.step)\n    # the end\n")
    plan = plan_of(tmp_path, source)
    assert plan == (
        "from __future__ import annotations\n\nimport argparse\nfrom pathlib import Path\n"
        "from tabflow_slurm import Plan\n\n\n"
        'def setup(args: argparse.Namespace) -> Path:\n    Plan("TabM", args.step)\n    # the end\n'
    )
    assert free_names(plan) == set()


def test_a_literal_where_a_name_was_compared_by_identity_is_no_warning(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plan_of(tmp_path, script("def setup():\n    Plan(MODEL is None)\n")).endswith('Plan("TabM" is None)\n')


LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(
    LITERALS, st.sampled_from(["Plan(X)", "Plan([*[X], X], X == X, {1: X}[1])", "Plan(X.__class__, not X, (X,)[0])"])
)
def test_any_literal_takes_the_place_of_its_name(tmp_path_factory, value, call):
    folder = tmp_path_factory.getbasetemp()
    source = f"from tabflow_slurm import Plan\nX = {value!r}\ndef setup():\n    {call}\n"
    plan = plan_of(folder, source)
    assert "X = " not in plan
    assert calls_of(plan) == calls_of(source)


MEND = "\n    fix: mend it there"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "MODEL = 1\n",
            "{path}: no function setup(), expected one function setup(), whose body is the plan\n"
            "    fix: give a script of scripts/new_benchmark.py",
        ),
        (
            "def setup():\n    pass\n\n\ndef setup():\n    pass\n",
            "{path}:5: 2 functions setup() at its top level, expected one function setup(), whose body is the plan\n"
            "    fix: give a script of scripts/new_benchmark.py",
        ),
        ("def setup(:\n", "{path}:1: not Python: invalid syntax, expected a run script" + MEND),
        ("x = 1\0\n", "{path}: not Python: source code string cannot contain null bytes, expected a run script" + MEND),
        (
            "# \udcff\nx = 1\n",
            "{path}: not Python: invalid or missing encoding declaration, expected a run script" + MEND,
        ),
        (
            "def setup():\n    pass  # \udcff\n# 2\n# 3\n",
            "{path}: not Python: 'utf-8' codec can't decode byte 0xff in position 25: invalid start byte, expected a "
            "run script" + MEND,
        ),
        (
            "def setup():\n    Plan(name=1, name=2)\n",
            "{path}:2: not Python: keyword argument repeated: name, expected a run script" + MEND,
        ),
        ("# coding: latin-9x\n", "{path}: not Python: unknown encoding: latin-9x, expected a run script" + MEND),
        ("x = " + "(" * 10_000, "{path}:1: not Python: too many nested parentheses, expected a run script" + MEND),
        (
            "#" * (2**20 + 1),
            "{path}: more than 1,048,576 bytes, expected a file within that limit\n"
            "    fix: make it smaller, or name another",
        ),
    ],
)
def test_what_is_no_run_script_is_refused(tmp_path, source, message):
    with pytest.raises(Failure) as caught:
        plan_of(tmp_path, source)
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value) == message.format(path=tmp_path / "run_demo.py")
