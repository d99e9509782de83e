"""Secrets in results: hidden wherever an artifact would publish them, and told without their values."""

import gzip
import json
import pickle
import time
import zipfile
from datetime import timedelta
from decimal import Decimal
from pathlib import PurePosixPath, PureWindowsPath

import numpy as np
import pyarrow.parquet as pq
import pytest
from artifact_samples import build, contents, copied, metadata_of, task_rows
from processing_samples import RAW

from benchwright.contract import Failure, Redaction, names_a_secret
from benchwright.processing import read_sidecar
from benchwright.processing.hiding import Hiding
from benchwright.processing.plain import Plain
from benchwright.processing.task_metadata import TaskTable, task_metadata
from benchwright.raw.stand_in import stand_in
from raw_trees import TASKS, add_result

FOREST = "RandomForest_c1_default_BAG_L1"
BREAST = TASKS["binary"]
WORD = "q7" * 12
"""What every secret of these tests is made of."""
TOKEN = f"hf_{WORD}"
ADDRESS = f"https://someone:{WORD}@example.org/models"
KEY_ID = "AKIA" + "Q7" * 8
HOME = "/home/somebody"


def said(folder):
    """All that an artifact says, out of its packing, by the paths of its files."""
    return {name: _said(folder / name, content) for name, content in contents(folder).items()}


def _said(path, content):
    if path.suffix == ".pkl":
        return gzip.decompress(content)
    if path.suffix == ".parquet":
        return repr(pq.read_table(path).to_pydict()).encode()
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return b"".join(map(archive.read, archive.namelist()))
    return content


@pytest.fixture
def artifact_of(tmp_path):
    """The artifact of a run, one of whose results is changed."""

    def made(change, **options):
        source = copied(tmp_path / "run", FOREST)
        add_result(source, FOREST, source=RAW / FOREST, change=change)
        return build("RandomForest", tmp_path / "cache", source=source, **options)

    return made


def leaks(folder, *secrets):
    """The files in which one of the secrets is."""
    return [name for name, content in said(folder).items() if any(secret.encode() in content for secret in secrets)]


def put_everywhere(value):
    value[f"/srv/{WORD}"] = TOKEN
    value["experiment_metadata"].update(started=ADDRESS, environment={"WANDB_API_KEY": WORD, TOKEN: 1})
    value["memory_usage"].update(host=(f"{HOME}/x", TOKEN), kinds={TOKEN, "cpu"})
    value["task_metadata"].update(cache=f"{HOME}/tasks", source=ADDRESS)
    method = value["method_metadata"]
    method["model_hyperparameters"].update(
        url=ADDRESS,
        keys=[KEY_ID, {"password": f"{WORD}-{WORD}"}],
        names=np.array(["a", TOKEN]),
        objects=np.array([TOKEN, None], dtype=object),
        raw=np.array([b"a", TOKEN.encode()]),
        content=TOKEN.encode(),
        packed=bytearray(b"\xff" + TOKEN.encode()),
        where=PurePosixPath(f"{HOME}/models"),
        there=PureWindowsPath(f"C:\\Users\\{WORD}\\models"),
        scalar=np.str_(TOKEN),
        amount=Decimal("0.5"),
        wait=timedelta(seconds=3),
    )
    method["model_cls"] = TOKEN


@pytest.mark.parametrize("cache_raw", [True, False])
def test_no_secret_and_no_path_is_left_in_any_file(artifact_of, cache_raw):
    artifact = artifact_of(put_everywhere, cache_raw=cache_raw)
    assert leaks(artifact.folder, WORD, KEY_ID, "somebody") == []
    (finding,) = artifact.findings
    assert (finding.code, finding.severity, finding.where) == (
        "secret-hidden",
        "warn",
        f"{BREAST}, split 0, {FOREST}",
    )
    assert str(finding.problem()) == (
        f"{BREAST}, split 0, {FOREST}: its result holds a secret, which is hidden in the artifact, "
        "expected results that everyone may read\n    fix: revoke the secret, and keep the raw results to yourself"
    )
    assert read_sidecar(artifact.folder).findings == artifact.findings


def test_what_takes_their_place(artifact_of):
    folder = artifact_of(put_everywhere).folder
    stored = json.loads((folder / "processed" / "configs_hyperparameters.json").read_text())[FOREST]
    told = stored["hyperparameters"]
    assert (told["url"], told["keys"]) == (
        "https://[hidden]@example.org/models",
        ["[hidden]", {"password": "[hidden]"}],
    )
    assert (told["names"], told["where"], told["there"]) == (["a", "[hidden]"], "<path>", "<path>")
    assert stored["model_cls"] == "[hidden]"
    copy = folder / "raw" / FOREST / BREAST / "0_0" / "results.pkl"
    values = pickle.loads(gzip.decompress(copy.read_bytes()))
    assert values["experiment_metadata"]["environment"] == {"WANDB_API_KEY": "[hidden]", "[hidden]": 1}
    assert values["memory_usage"]["host"] == ("<path>", "[hidden]")
    assert values["task_metadata"]["name"] == BREAST
    assert values["<path>"] == "[hidden]"


def test_a_secret_of_this_machine_is_known_by_its_value(artifact_of, monkeypatch):
    monkeypatch.setenv("DEMO_API_KEY", WORD)
    monkeypatch.setenv("DEMO_PASSWORD", "default")
    artifact = artifact_of(lambda value: value["experiment_metadata"].update(note=f"with {WORD}, by default"))
    assert leaks(artifact.folder, WORD) == []
    copy = artifact.folder / "raw" / FOREST / BREAST / "0_0" / "results.pkl"
    values = pickle.loads(gzip.decompress(copy.read_bytes()))
    assert values["experiment_metadata"]["note"] == "with [hidden], by default"


def test_what_a_damaged_result_says_is_told_without_secrets(artifact_of):
    artifact = artifact_of(lambda value: value.update(problem_type=TOKEN))
    finding = artifact.findings[0]
    assert (finding.code, finding.found) == ("unknown-problem-type", "0_0/results.pkl: problem_type is '[hidden]'")
    assert leaks(artifact.folder, WORD) == []


def test_a_recorded_protocol_is_told_without_secrets(artifact_of):
    artifact = artifact_of(lambda value: value["experiment_metadata"].update(validation_protocol=f"{HOME} {TOKEN}"))
    assert leaks(artifact.folder, WORD, "somebody") == []


def rows_named(value):
    rows = [f"row {number}" for number in range(len(value["simulation_artifacts"]["y_test_idx"]))]
    value["simulation_artifacts"]["y_test_idx"] = np.array([TOKEN, *rows[1:]])


@pytest.mark.parametrize(
    ("change", "code", "found"),
    [
        (rows_named, "secret-in-data", "simulation_artifacts hold what looks like a secret"),
        (
            lambda value: value["simulation_artifacts"].update(label=TOKEN),
            "secret-in-name",
            "the target's name looks like a secret",
        ),
        (
            lambda value: value["simulation_artifacts"].update(note={"deep": [TOKEN]}),
            "secret-in-data",
            "simulation_artifacts hold what looks like a secret",
        ),
        (
            lambda value: value["task_metadata"].update(name=TOKEN),
            "secret-in-name",
            "the dataset's name looks like a secret",
        ),
    ],
)
def test_what_cannot_be_hidden_without_changing_the_result_is_left_out(artifact_of, change, code, found):
    artifact = artifact_of(change, cache_raw=False)
    finding = artifact.findings[0]
    assert (finding.code, finding.severity) == (code, "error")
    assert finding.found == f"0_0/results.pkl: {found}"
    assert leaks(artifact.folder, WORD) == []


def test_a_table_of_tasks_is_published_without_secrets():
    row = next(row for row in task_rows() if row["tabarena_task_name"] == BREAST)
    row |= {"data_foundry_uri": f"file://{HOME}/tasks", "source": ADDRESS, "time_on": "/scratch/of"}
    (told,) = task_metadata(TaskTable([row]), [], Redaction({})).to_pylist()
    assert (told["data_foundry_uri"], told["source"], told["time_on"]) == (
        "<path>",
        "https://[hidden]@example.org/models",
        "/scratch/of",
    )


@pytest.mark.parametrize(
    ("key", "is_one"),
    [
        *((key, True) for key in ("token", "hf_token", "HF_TOKEN", "accessToken", "api_key", "apiKey", "api-key")),
        *(
            (key, True)
            for key in ("aws_secret_access_key", "AWS_ACCESS_KEY_ID", "password", "db.passwd", "credentials")
        ),
        *((key, True) for key in ("hfToken", "APIkey", "apiKeys", "tokens", "secrets", "passphrase", "Authorization")),
        *((key, True) for key in ("--api-key", "HF_TOKEN_2", "topsecret", "privateKey", "storage account key")),
        *((key, False) for key in ("n_tokens", "maxTokens", "max_new_tokens", "special_tokens", "authority", "keys")),
        *((key, False) for key in ("tokenizer", "max_tokens", "ag_key", "key", "model_key", "keyword", "secretary")),
    ],
)
def test_keys_of_secrets(key, is_one):
    assert names_a_secret(key) is is_one


def plain_of(value):
    plain = Plain(Hiding(Redaction({}), paths=True))
    made = plain(value)
    return made, plain.secret


def test_special_tokens_of_a_language_model_are_no_secrets():
    values = {"token": ["[MASK-OF-ALL]", "<|endoftext|>", "</s>", "bert", None, 5, 0.5, True]}
    assert plain_of(values) == (values, False)
    for text in ("a" * 5, "two words", "<open", "[a]b]", "<a> <b>"):
        assert plain_of({"token": text}) == ({"token": "[hidden]"}, True)


@pytest.mark.parametrize(
    ("value", "hidden"),
    [
        (np.str_(WORD), "[hidden]"),
        (WORD.encode(), b"[hidden]"),
        (b"\xff" + WORD.encode(), b"[hidden]"),
        ([WORD, 3], ["[hidden]", 3]),
        ({"user": "someone", "pass": WORD, "port": 80}, {"user": "[hidden]", "pass": "[hidden]", "port": 80}),
        ({f"{HOME}/x": {"deep": (WORD,)}}, {"<path>": {"deep": ("[hidden]",)}}),
        ({WORD, "other"}, ["[hidden]", "[hidden]"]),
        (stand_in("pathlib.PosixPath")("/", "home", "x"), "[hidden]"),
        (f"Bearer {WORD}", "[hidden]"),
        ({"prompt_tokens": 12, "completion": np.int64(3)}, {"prompt_tokens": 12, "completion": 3}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_everything_but_numbers_is_hidden_under_the_name_of_a_secret(value, hidden):
    for key in ("tokens", "HF_TOKEN", np.str_("clientSecret")):
        made, secret = plain_of({key: value, "note": "kept as it is"})
        assert made == {key: hidden, "note": "kept as it is"}
        assert secret is ("[hidden]" in repr(hidden))


def test_arrays_under_the_name_of_a_secret():
    numbers = np.arange(3)
    made, _ = plain_of({"tokens": numbers, "secrets": np.array([WORD, "[CLS]"])})
    assert (made["tokens"].dtype, made["tokens"].tolist()) == (numbers.dtype, [0, 1, 2])
    assert made["secrets"].tolist() == ["[hidden]", "[CLS]"]


def test_what_stands_under_a_secret_and_elsewhere_is_kept_there():
    shared = ["a word here", {"deep": "as well"}]
    shared.append(shared)
    made, _ = plain_of({"password": shared, "notes": shared})
    assert made["notes"][:2] == shared[:2]
    assert made["notes"][2] is made["notes"]
    assert made["password"][:2] == ["[hidden]", {"deep": "[hidden]"}]
    assert made["password"][2] is made["password"]


def test_what_follows_the_name_of_a_secret_is_hidden():
    for _ in range(2):  # what was seen before is no more harmless
        made, secret = plain_of(
            {"argv": ["run", "--api-key", WORD, "--seed", "other"], "environ": [("HF_TOKEN", WORD)]}
        )
        assert made["argv"] == ["run", "--api-key", "[hidden]", "--seed", "other"]
        assert (made["environ"], secret) == ([("HF_TOKEN", "[hidden]")], True)
    features = ["token", "length of the text", "password"]
    assert plain_of({"features": features}) == ({"features": features}, False)


@pytest.mark.parametrize(
    ("content", "hidden"),
    [
        (b"\xff\xfe/home/somebody/x/y\x00\xff", b"\xff\xfe<path>\x00\xff"),
        (b"\xff//Users//somebody/x\xff", b"\xff/<path>\xff"),
        (b"\xff/a/b\xff", b"\xff/a/b\xff"),
        (f"in {HOME}/x".encode(), b"in <path>"),
    ],
)
def test_paths_in_bytes(content, hidden):
    assert plain_of(content) == (hidden, False)


def test_what_holds_no_secret_stays_the_same_object():
    values = {"text": "x" * 50, "bytes": b"\x00\xff", "names": np.array(["a" * 40]), "url": "https://example.org/x"}
    plain = Plain(Hiding(Redaction({}), paths=True))
    made = plain(values)
    assert all(made[name] is value for name, value in values.items() if name != "names")
    assert made["names"].dtype == values["names"].dtype
    assert not plain.secret


@pytest.mark.parametrize(
    "text",
    [
        *("hf_" * 100_000, "sk-" * 100_000, "://a:" * 60_000, "://" + "a:" * 100_000, "token" * 60_000 + "="),
        *("token='" * 40_000, 'token="' + "token='" * 40_000, "token: " + "a" * 300_000, "--" * 100_000 + " token=x"),
        *("?" * 200_000 + "=token", "?" + "a" * 200_000 + "=token", "-----BEGIN PRIVATE KEY-----\n" * 9_000),
        *("authorization: " * 20_000, "bearer " * 40_000, "-----BEGIN " + "A " * 100_000, "key_" * 60_000 + "x="),
    ],
)
def test_texts_made_to_take_long(text):
    before = time.process_time()
    Redaction({})(text)
    assert time.process_time() - before < 2


def test_secrets_in_the_metadata_are_refused_before_anything_is_built():
    with pytest.raises(Failure) as caught:
        metadata_of("RandomForest", reference_url=ADDRESS)
    assert [problem.found for problem in caught.value.problems] == ["a text with a secret"]
