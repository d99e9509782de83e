"""Skills load in every client: portable frontmatter, a body that fits, pointers that hold, manifests that agree."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest
import yaml

from benchwright.audit import commands
from benchwright.audit.commands import LAUNCH_GOTCHAS
from benchwright.audit.facts import EvalFacts, RowFacts
from benchwright.audit.verdict import Verdict
from benchwright.hub.blocked import blocked_boards
from benchwright.hub.candidates.statuses import STATUSES
from benchwright.hub.opening import beside
from benchwright.hub.sources import questions
from benchwright.hub.sources.signs import kinds
from benchwright.hub.spec import Spec
from benchwright.hub.sweep.classes import PullClass, ResultClass
from benchwright.launch import sky_progress, sky_view
from benchwright.launch.bucket_lease import _RENEWALS
from benchwright.launch.bucket_queue import LEASE_SECONDS
from benchwright.launch.symptoms import MOST_OF_ONE_CAUSE, SYMPTOMS, UNEXPLAINED, UNFINISHED, WRAPPER
from benchwright.node import array_ending, array_notes
from scripts_in_process import load
from test_docs import INTERPRETER, script_of

ROOT = Path(__file__).resolve().parents[1]
SKILLS = sorted(path.parent for path in ROOT.glob(".agents/skills/*/SKILL.md"))
FIELDS = {"name", "description", "license", "compatibility", "metadata"}
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
POINTER = re.compile(r"(?<![\w/.-])(?:scripts|references|assets)/[\w./-]*\w")
MANIFESTS = ROOT / ".claude-plugin"
BENCHMARK_MODEL = ROOT / ".agents" / "skills" / "benchmark-model"
EVAL_CLEANUP = ROOT / ".agents" / "skills" / "eval-agentic-cleanup"
PORT_EVALS = ROOT / ".agents" / "skills" / "port-evals-to-hub"

each_skill = pytest.mark.parametrize("skill", SKILLS, ids=lambda path: path.name)


def parts(skill: Path) -> tuple[str, str]:
    """Frontmatter and body of a SKILL.md, as text."""
    _, frontmatter, body = (skill / "SKILL.md").read_text().split("---\n", 2)
    return frontmatter, body


def header(skill: Path) -> dict:
    return yaml.safe_load(parts(skill)[0])


def described(skill: Path) -> str:
    return header(skill)["description"]


def frontmatter_problems(text: str, folder: str) -> list[str]:
    """What the Agent Skills specification, and the clients that read it more strictly, find wrong with frontmatter."""
    try:
        fields = yaml.safe_load(text)
    except yaml.YAMLError as error:
        return [f"no YAML: {error}"]
    problems = [f"{name} is not one of the specification's fields" for name in fields if name not in FIELDS]
    name, description = str(fields.get("name", "")), str(fields.get("description", ""))
    if not NAME.fullmatch(name) or len(name) > 64:
        problems.append(f"name {name!r}")
    if name != folder:
        problems.append(f"name {name!r} in folder {folder!r}")
    if re.search("anthropic|claude", name):
        problems.append(f"name {name!r} holds a reserved word")
    if not 1 <= len(description) <= 1024 or re.search("[<>]", description):
        problems.append("a description of 1 to 1,024 characters without tags")
    if "description: >-\n" not in text:
        problems.append("a description that is no folded block: a colon in it would hide all fields from some clients")
    if not 1 <= len(str(fields.get("compatibility", "-"))) <= 500:
        problems.append("compatibility of 1 to 500 characters")
    metadata = fields.get("metadata", {"-": "-"})
    if not metadata or not all(isinstance(word, str) for pair in metadata.items() for word in pair):
        problems.append("metadata that maps text to text")
    if "metadata: {" in text:
        problems.append("metadata in flow style, which a validator cannot read")
    return problems


@each_skill
def test_frontmatter_is_portable(skill):
    assert frontmatter_problems(parts(skill)[0], skill.name) == []
    assert header(skill)["license"] == "Apache-2.0"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("name: a", "name: A--b"), "name 'A--b'"),
        (("name: a", "name: b"), "name 'b' in folder 'a'"),
        (("license: x", "argument-hint: x"), "argument-hint is not one"),
        (("description: >-\n  Does x.", "description: does x: y"), "no YAML"),
        (("description: >-\n  Does x.", "description: Does x."), "folded block"),
        (("Does x.", "x" * 1025), "1,024 characters"),
        (("Does x.", "Takes a <model>."), "without tags"),
        (("metadata:\n  version: '1'", "metadata:"), "text to text"),
        (("version: '1'", "version: 1"), "text to text"),
        (("metadata:\n  version: '1'", "metadata: {version: '1'}"), "flow style"),
    ],
)
def test_frontmatter_that_breaks_a_client_is_found(change, problem):
    good = "name: a\ndescription: >-\n  Does x.\nlicense: x\nmetadata:\n  version: '1'\n"
    assert frontmatter_problems(good, "a") == []
    assert change[0] in good
    assert any(problem in found for found in frontmatter_problems(good.replace(*change), "a"))


@each_skill
def test_the_body_is_what_a_client_keeps_after_a_compaction(skill):
    _, body = parts(skill)
    assert len(body) / 4 < 5000
    assert len(body.splitlines()) < 500


@each_skill
def test_safety_rules_come_before_anything_else(skill):
    first, *_ = re.findall(r"^## (.*)$", parts(skill)[1], re.M)
    assert first.startswith("Rules")


@each_skill
def test_a_description_says_what_when_and_what_not(skill):
    text = described(skill)
    assert len(text) < 700
    assert "Use it" in text
    assert "Not for" in text
    others = {other.name for other in SKILLS} - {skill.name}
    assert others <= set(re.findall(r"[\w-]+", text)), "the neighbours that it is not"


def test_descriptions_share_the_listing_of_a_client():
    assert sum(len(described(skill)) for skill in SKILLS) < 3200


@each_skill
def test_every_file_that_a_skill_names_exists(skill):
    pages = [skill / "SKILL.md", *skill.glob("references/*.md"), *skill.glob("evals/*.json")]
    for page in pages:
        for pointer in POINTER.findall(page.read_text()):
            assert (skill / pointer).is_file() or (ROOT / pointer).is_file(), f"{page.name} names {pointer}"


@each_skill
def test_every_bundled_file_is_named_in_the_body(skill):
    named = set(POINTER.findall(parts(skill)[1]))
    folders = ("scripts", "references", "assets")
    bundled = {path.relative_to(skill).as_posix() for name in folders for path in skill.glob(f"{name}/*.*")}
    assert bundled <= named


@each_skill
def test_a_pointer_says_when_to_read_it(skill):
    sentences = re.split(r"(?<=[.:])\s+(?=[A-Z*-])", " ".join(parts(skill)[1].split()))
    for page in skill.glob("references/*.md"):
        pointers = [sentence for sentence in sentences if f"references/{page.name}" in sentence]
        assert any(re.search(r"\b([Ww]hen|before|after)\b", sentence) for sentence in pointers), page.name


@each_skill
def test_problem_codes_that_a_page_explains_are_those_of_the_code(skill):
    source = "".join(path.read_text() for path in ROOT.glob("src/benchwright/**/*.py"))
    source += "".join(path.read_text() for path in skill.glob("scripts/*.py"))
    for page in skill.glob("references/*.md"):
        for table in re.findall(r"^\| code \|.*\n(?:\|.*\n)+", page.read_text(), re.M):
            for row in table.splitlines()[2:]:
                for code in re.findall(r"`([a-z-]+)`", row.split("|")[1]):
                    assert f'"{code}"' in source, f"{page.name} explains {code}"


def rows(page: Path, first: str) -> list[list[str]]:
    """The cells of the tables of a page whose first column is headed so."""
    tables = re.findall(rf"^\| {first} \|.*\n(?:\|.*\n)+", page.read_text(), re.M)
    lines = [line for table in tables for line in table.splitlines()[2:]]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_classes_of_failed_items_are_those_that_triage_gives():
    explained = [cells[0].strip("`") for cells in rows(BENCHMARK_MODEL / "references" / "failures.md", "class")]
    known = [symptom.code for symptom in (*SYMPTOMS, WRAPPER, UNFINISHED, UNEXPLAINED)]
    assert sorted(explained) == sorted(known)


def test_every_verdict_is_explained_twice():
    page = [cells[0].strip("`") for cells in rows(EVAL_CLEANUP / "references" / "verdicts.md", "verdict")]
    body = [name for cells in rows(EVAL_CLEANUP / "SKILL.md", "verdict") for name in cells[0].split(", ")]
    assert sorted(page) == sorted(body) == sorted(get_args(Verdict))


@pytest.mark.parametrize(
    ("page", "heading"),
    [(EVAL_CLEANUP / "SKILL.md", "verdict"), (ROOT / "README.md", "the audit says")],
    ids=["skill", "readme"],
)
def test_the_remedy_of_a_verdict_is_what_the_audit_prints(page, heading):
    facts, row = EvalFacts(run_tag="run", folder="JOB_DIR"), RowFacts(id="ID", owner="us", status="Finished")
    printed = {
        "RESUME": commands.resume_command(facts),
        "DEREGISTER+RESUME": commands.deregister(facts, row),
        "UPLOAD": commands.push(facts, "", traces=True).command,
        "LINK": commands.link(facts, row, "ORG/NAME").replace("https://huggingface.co/datasets/ORG/NAME", "URL"),
        "FIX_MODEL": commands.repair(facts, "fix-model", row, "--model-name", "ORG/NAME"),
        "FIX_BENCH": commands.repair(facts, "fix-benchmark", row, "--benchmark-name", "NAME"),
    }
    told = {cells[0]: cells[-1] for cells in rows(page, heading)}
    for verdict, command in printed.items():
        assert f"`{command}`" in told[verdict], verdict


def test_what_to_look_at_before_a_launch_is_what_the_audit_prints():
    page = (EVAL_CLEANUP / "references" / "sources.md").read_text()
    assert len(re.findall(r"^[0-9]\. ", page, re.M)) == len(LAUNCH_GOTCHAS)


def test_every_status_of_a_candidate_says_what_to_do():
    statuses = [name.strip("`") for cells in rows(PORT_EVALS / "SKILL.md", "status") for name in cells[0].split(", ")]
    assert sorted(statuses) == sorted(STATUSES)


def test_every_question_about_a_source_says_who_answers():
    page = [cells[0].strip("`") for cells in rows(PORT_EVALS / "references" / "verification.md", "question")]
    asked = set(re.findall(r'Question\(\s*"([a-z-]+)"', Path(questions.__file__).read_text()))
    assert {"authors", "precision", "mark"} <= asked
    assert sorted(page) == sorted(asked | {kind.code for kind in kinds()} | {beside.CLOSED})


def test_every_class_of_a_sweep_is_explained():
    page = PORT_EVALS / "references" / "sweep.md"
    results, pulls = (
        {cells[0].strip("`") for cells in rows(page, first)}
        for first in ("class of a result", "class of a pull request")
    )
    assert results == set(get_args(ResultClass))
    assert pulls == set(get_args(PullClass)) - results


def test_the_spec_that_is_shown_is_one_and_all_its_fields_are_explained(tmp_path):
    page = PORT_EVALS / "references" / "spec.md"
    spec = tmp_path / "spec.json"
    spec.write_text(re.search(r"^```json\n(.*?)^```", page.read_text(), re.M | re.S)[1])
    assert [result.board_text for result in Spec.load(spec).results] == ["38.75", "44.90"]
    schema = json.loads((PORT_EVALS / "references" / "spec.schema.json").read_text())
    properties = {name: set(one.get("properties", {})) for name, one in {**schema["$defs"], "file": schema}.items()}
    source = schema["$defs"]["result"]["properties"]["source"]["properties"]
    fields = properties["repo"] | properties["result"] | properties["file"] | {f"source.{name}" for name in source}
    explained = {name.strip("`") for cells in rows(page, "field") for name in cells[0].split(", ")}
    assert explained == fields - {"version", "repos", "results", "source"}


def test_the_skill_names_each_blocked_board():
    body = parts(PORT_EVALS)[1].lower()
    assert all(dataset.partition("/")[2] in body for dataset in blocked_boards())


def test_the_last_words_of_watchers_are_explained():
    words = {cells[0].strip("`") for cells in rows(BENCHMARK_MODEL / "references" / "monitoring.md", "word")}
    source = "".join(Path(module.__file__).read_text() for module in (array_ending, sky_progress, sky_view))
    said = set(re.findall(r'(?:Verdict\(|return |_end\(|: )"([A-Z]{2,}(?: [A-Z]+)*)"', source))
    assert {"DONE", "INCOMPLETE", "LOST", "WORKERS GONE", "SILENT", "NO ANSWER"} <= said
    assert words == said


def test_the_skill_names_the_figures_of_the_code():
    pages = [parts(BENCHMARK_MODEL)[1], (BENCHMARK_MODEL / "references" / "monitoring.md").read_text()]
    numbers = {3: "three", 5: "five"}
    assert f"more than {numbers[MOST_OF_ONE_CAUSE]} items fail for one reason" in " ".join(pages[0].split())
    assert f"{numbers[array_notes._INTERVALS_OF_A_STALL]} intervals" in pages[1]
    assert (LEASE_SECONDS / 60, LEASE_SECONDS / _RENEWALS) == (5, 60)
    assert "every minute: for a whole lease time, five minutes, none did" in pages[1]


@each_skill
def test_the_reference_validator_accepts_it(skill):
    done = subprocess.run([tool("agentskills"), "validate", str(skill)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_linter_has_no_remark():
    command = [tool("skillsaw"), "lint", "--strict", "--no-color", "--no-progress", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Skills:    {len(SKILLS)}" in done.stdout


def tool(name: str) -> str:
    path = Path(sys.executable).with_name(name)
    assert path.is_file(), f"{name} is missing: make setup-dev"
    return str(path)


@each_skill
def test_claude_finds_the_same_skill(skill):
    link = ROOT / ".claude" / "skills" / skill.name
    assert link.is_symlink()
    assert not link.readlink().is_absolute()
    assert link.resolve() == skill


def test_the_manifests_describe_one_plugin_with_every_skill():
    """``strict`` and the list in plugin.json: with ``strict`` off, two manifests keep the client from loading any."""
    market = json.loads((MANIFESTS / "marketplace.json").read_text())
    plugin = json.loads((MANIFESTS / "plugin.json").read_text())
    (entry,) = market["plugins"]
    assert (entry["source"], entry["strict"], "skills" in entry) == ("./", True, False)
    assert sorted(plugin["skills"]) == [f"./.agents/skills/{skill.name}" for skill in SKILLS]
    assert {name: entry[name] for name in ("name", "version", "description", "license")} == {
        name: plugin[name] for name in ("name", "version", "description", "license")
    }
    assert market["owner"] == plugin["author"] == {"name": "Benchwright maintainers"}
    assert market["metadata"]["description"]


def test_there_is_one_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert json.loads((MANIFESTS / "plugin.json").read_text())["version"] == version
    assert [header(skill)["metadata"]["version"] for skill in SKILLS] == [version] * len(SKILLS)


@each_skill
def test_agents_md_says_when_to_use_it(skill):
    assert f"`{skill.name}`" in (ROOT / "AGENTS.md").read_text()


@each_skill
def test_evals_name_commands_that_parse(skill, capsys):
    suite = json.loads((skill / "evals" / "evals.json").read_text())
    assert suite["skill_name"] == skill.name
    assert [case["id"] for case in suite["evals"]] == list(range(1, len(suite["evals"]) + 1))
    commands = 0
    for case in suite["evals"]:
        assert set(case) == {"id", "prompt", "expected_output", "files", "expectations"}
        assert case["prompt"]
        assert case["expected_output"]
        assert len(case["expectations"]) >= 2
        assert all((skill / "evals" / file).is_file() for file in case["files"])
        for span in re.findall(rf"`({re.escape(INTERPRETER)} [^`]+)`", " ".join(case["expectations"])):
            words = shlex.split(span)
            load(script_of(words[1])).build_parser().parse_args(words[2:])
            commands += 1
    assert commands >= len(suite["evals"])


@each_skill
def test_trigger_queries_are_a_fair_trial(skill):
    queries = json.loads((skill / "evals" / "trigger_queries.json").read_text())
    assert all(set(query) == {"query", "should_trigger"} for query in queries)
    texts = [query["query"] for query in queries]
    assert len(set(texts)) == len(texts) >= 20
    wanted = [query["should_trigger"] for query in queries]
    assert {type(answer) for answer in wanted} == {bool}
    assert 8 <= sum(wanted) <= len(wanted) - 8
