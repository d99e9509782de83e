"""Who holds the token, and what it may do: known before anything is tried."""

from __future__ import annotations

import pytest

from benchwright.contract import Exit, Failure
from benchwright.hub.opening.rights import holder_of
from benchwright.rehearsal.hub.records import Rights


@pytest.fixture
def holder(emulator, open_hub):
    return lambda rights: holder_of(open_hub(emulator.token("porter", rights)))


def test_a_token_that_writes_opens_anywhere(holder):
    found = holder("write")
    assert (found.name, found.may_open("any/model")) == ("porter", True)


@pytest.mark.parametrize(
    ("rights", "able", "unable"),
    [
        (Rights("fineGrained", ("discussion.write",)), ["any/model"], []),
        (Rights("fineGrained", at={"lab-a": ("discussion.write",)}), ["lab-a/x", "Lab-A/y"], ["lab-b/x"]),
        (Rights("fineGrained", at={"lab-a/x": ("discussion.write",)}), ["lab-a/x"], ["lab-a/y"]),
        (Rights("fineGrained", ("repo.content.read",)), [], ["any/model"]),
    ],
)
def test_a_fine_grained_token_opens_where_it_may(holder, emulator, rights, able, unable):
    emulator.add_organisation("lab-a")
    emulator.add_model("lab-a/x")
    found = holder(rights)
    found.check(able)
    for repo in unable:
        with pytest.raises(Failure, match=f"no right to open pull requests of {repo}") as failure:
            found.check([*able, repo])
        assert (failure.value.exit, failure.value.problems[0].code) == (Exit.ENVIRONMENT, "token-rights")


def test_a_token_that_reads_opens_nothing(holder):
    with pytest.raises(Failure, match="a token that may read only") as failure:
        holder("read")
    assert (failure.value.exit, failure.value.problems[0].code) == (Exit.ENVIRONMENT, "token-rights")


def test_without_a_token_nothing_is_asked(open_hub, asked):
    with pytest.raises(Failure, match="no token") as failure:
        holder_of(open_hub(False))
    assert (failure.value.exit, asked()) == (Exit.ENVIRONMENT, [])


def test_a_token_that_nobody_knows_is_said(open_hub):
    with pytest.raises(Failure, match="Invalid credentials in Authorization header") as failure:
        holder_of(open_hub("rehearsal-unknown"))
    assert failure.value.exit == Exit.ENVIRONMENT
