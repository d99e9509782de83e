"""Where a store is and what it is opened with: addresses, the environment, the .env file."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

from benchwright.contract import Exit, Failure, usage_error
from benchwright.objects import (
    Conflict,
    StoreLocation,
    credentials_help,
    missing_credentials,
    open_store,
    settings_from_environment,
)

R2 = {"R2_ACCOUNT_ID": "an-account", "R2_ACCESS_KEY_ID": "an-id-of-r2", "R2_SECRET_ACCESS_KEY": "a-secret-of-r2"}


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("local:some folder/below", StoreLocation("local", "some folder/below")),
        ("s3://bucket", StoreLocation("s3", "bucket")),
        ("r2://tab.arena/cache/", StoreLocation("r2", "tab.arena", "cache")),
        ("r2://bucket/a/b", StoreLocation("r2", "bucket", "a/b")),
    ],
)
def test_an_address_names_kind_place_and_prefix(text, location):
    assert StoreLocation.parse(text) == location
    assert StoreLocation.parse(str(location)) == location


@pytest.mark.parametrize(
    "text",
    ["", "folder", "local:", "s3:bucket", "s3://", "s3://B", "s3://no_such", "ftp://bucket", "s3://key:secret@bucket"],
)
def test_an_address_that_is_none_is_a_usage_error(text):
    with pytest.raises(Failure) as failure:
        open_store(text)
    assert failure.value.exit == Exit.USAGE and failure.value.problems[0].code == "bad-store"


def test_no_bucket_is_ever_supplied():
    with pytest.raises(Failure) as failure:
        StoreLocation("r2", "")
    assert str(failure.value) == (
        "r2://: no bucket: '', expected r2://BUCKET/PREFIX\n"
        "    fix: correct it where the store is named, an option, the environment or the metadata"
    )


@pytest.mark.parametrize("text", ["s3://user:q7Q7@bucket/x", "s3://user:q7/Q7@bucket/x", "r2://q7@bucket", "gs:q7@b"])
def test_a_password_in_an_address_is_not_told(text):
    with pytest.raises(Failure) as failure:
        StoreLocation.parse(text)
    assert "q7" not in str(failure.value) and "Q7" not in str(failure.value)
    if text.endswith("/x"):
        assert str(failure.value) == (
            "s3://[hidden]@bucket/x: no bucket: with a user or a password, expected s3://BUCKET/PREFIX\n"
            "    fix: correct it where the store is named, an option, the environment or the metadata"
        )


def test_a_prefix_is_the_start_of_keys():
    with pytest.raises(Failure, match="a part that is"):
        StoreLocation.parse("s3://bucket/../other")


def test_all_that_is_missing_is_said_at_once():
    with pytest.raises(Failure) as failure:
        open_store("r2://bucket")
    assert failure.value.exit == Exit.ENVIRONMENT
    assert str(failure.value) == (
        "r2: R2_ACCOUNT_ID, R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY not set, expected R2_ACCOUNT_ID, R2_ACCESS_KEY_ID, "
        "R2_SECRET_ACCESS_KEY\n"
        "    fix: set R2_ACCOUNT_ID, R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY in the environment or in a .env file"
    )


def test_half_a_pair_of_keys_is_said():
    (problem,) = missing_credentials("s3", {"AWS_ACCESS_KEY_ID": "id"})
    assert problem.found == "AWS_SECRET_ACCESS_KEY not set"
    assert missing_credentials("s3", {}) == () == missing_credentials("local", {}) == missing_credentials("r2", R2)


def test_no_keys_anywhere_is_an_environment_to_set():
    store = open_store("s3://bucket", settings={})
    with pytest.raises(Failure) as failure:
        store.head("key")
    assert failure.value.exit == Exit.ENVIRONMENT and failure.value.problems[0].code == "credentials-refused"


def test_a_profile_that_is_not_there_is_said():
    with pytest.raises(Failure, match="nobody") as failure:
        open_store("s3://bucket", settings={"AWS_PROFILE": "nobody"})
    assert failure.value.exit == Exit.ENVIRONMENT


@pytest.mark.parametrize("value", ["a secret", "a\nsecret", "sécret", "secret\t"])
def test_a_value_that_no_request_could_carry_is_not_shown(value):
    with pytest.raises(Failure) as failure:
        open_store("r2://bucket", settings=R2 | {"R2_SECRET_ACCESS_KEY": value})
    assert str(failure.value) == (
        f"R2_SECRET_ACCESS_KEY: a value of {len(value)} characters that is none, "
        "expected printable characters without a space\n"
        "    fix: set R2_SECRET_ACCESS_KEY again, as it was shown"
    )


@pytest.mark.parametrize("value", ["localhost:9000", "https://user:pass@host", "https://host/path"])
def test_an_endpoint_is_a_plain_url(value):
    with pytest.raises(Failure, match="without a path, user or password") as failure:
        open_store("r2://bucket", settings=R2 | {"R2_ENDPOINT_URL": value})
    assert value not in str(failure.value)


def test_secrets_are_not_in_what_is_printed_of_a_store():
    from benchwright.objects.credentials import credentials_for

    credentials = credentials_for("r2", R2)
    assert credentials.endpoint == "https://an-account.r2.cloudflarestorage.com"
    assert not any(secret in repr(credentials) for secret in ("an-id-of-r2", "a-secret-of-r2"))


def test_help_names_every_variable_that_may_be_missing():
    for kind, names in {"r2": R2, "s3": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "local": ()}.items():
        assert all(name in "\n".join(credentials_help(kind)) for name in names)


ENV_FILE = """\
\ufeff# credentials
export R2_ACCOUNT_ID=from-file
R2_ACCESS_KEY_ID = "quoted # \\"id\\""   # a comment
R2_SECRET_ACCESS_KEY='a $HOME `id`'
PLAIN=a#b c # comment
EMPTY=
NOT A LINE
UNCLOSED="x
=x
"""


def test_the_env_file_is_read_and_nothing_in_it_is_run(tmp_path):
    (tmp_path / ".env").write_text(ENV_FILE)
    assert settings_from_environment({}) == {
        "R2_ACCOUNT_ID": "from-file",
        "R2_ACCESS_KEY_ID": 'quoted # "id"',
        "R2_SECRET_ACCESS_KEY": "a $HOME `id`",
        "PLAIN": "a#b c",
    }


def test_the_environment_wins_and_an_empty_variable_is_not_set(tmp_path):
    (tmp_path / "secrets").write_text("A=file\nB=file\n")
    environment = {"BENCHWRIGHT_ENV_FILE": str(tmp_path / "secrets"), "A": "environment", "B": ""}
    settings = settings_from_environment(environment)
    assert (settings["A"], settings["B"]) == ("environment", "file")


def test_a_named_env_file_must_be_there(tmp_path):
    with pytest.raises(Failure) as failure:
        settings_from_environment({"BENCHWRIGHT_ENV_FILE": str(tmp_path / "none")})
    assert failure.value.exit == Exit.ENVIRONMENT
    assert str(failure.value) == (
        f"{tmp_path / 'none'}: no such file or directory, expected lines NAME=value\n"
        "    fix: correct or unset BENCHWRIGHT_ENV_FILE"
    )


def test_an_env_file_that_is_no_text_is_said(tmp_path):
    (tmp_path / ".env").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Failure, match="no text of under 1 MiB"):
        settings_from_environment({})


def test_the_package_needs_boto3_for_s3_alone(tmp_path):
    code = (
        "import sys; sys.modules['boto3'] = None\n"
        "from benchwright.objects import open_store\n"
        "open_store('local:x').put('a', b'x')\n"
        "from benchwright.contract import Failure\n"
        "try: open_store('r2://bucket')\n"
        "except Failure as failure: print(int(failure.exit), failure)\n"
    )
    environment = {"PATH": os.environ["PATH"]} | R2
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    )
    assert told.stdout == (
        "3 boto3: not installed, expected boto3, for stores behind the S3 protocol\n"
        "    fix: make setup in a checkout, or pip install 'benchwright[s3]'\n"
    )


def test_a_conflict_comes_back_whole_from_a_worker():
    conflict = Conflict("where", "found", "expected")
    back = pickle.loads(pickle.dumps(conflict))
    assert type(back) is Conflict and str(back) == str(conflict) and back.exit == conflict.exit
    assert usage_error("a", "b").exit == Exit.USAGE
