"""What a model's repo says of itself, whose it is, and which addresses are a model's."""

from __future__ import annotations

import pytest

from benchwright.contract import Exit, Failure
from benchwright.hub.model_repo import (
    RepoMissing,
    card_of,
    discussions_open,
    model_repo,
    namespace_kind,
    normalise_url,
)
from benchwright.hub.refusals import Disabled, Gated
from benchwright.rehearsal.hub import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import card


def problems(repo) -> list[tuple[str, str]]:
    return [(one.code, one.found) for one in repo.metadata_problems()]


def test_a_model_is_described_in_one_request_and_one_for_its_owner(emulator, hub, result, asked):
    files = {"README.md": card("Nova", base_model="nova-ai/base"), ".eval_results/logic.yaml": result(61)}
    made = emulator.add_model("nova-ai/nova-7b", files, parameters={"BF16": 7_000_000_000, "F32": 600_000_000})
    repo = model_repo(hub, "nova-ai/nova-7b")
    assert len(asked()) == 2
    assert (repo.id, repo.sha, repo.author, repo.kind) == ("nova-ai/nova-7b", made.main.oid, "nova-ai", "org")
    assert (repo.parameters, repo.bases) == (7_600_000_000, ("nova-ai/base",))
    assert repo.result_files == (".eval_results/logic.yaml",)
    assert [one["data"]["value"] for one in repo.eval_results] == [61]
    assert repo.metadata_problems() == ()
    assert card_of(hub, repo).startswith("---")


def test_a_model_that_was_renamed_has_its_present_name(emulator, hub):
    emulator.rename(emulator.add_model("nova-ai/old", {"README.md": "x"}), "nova-ai/new")
    assert model_repo(hub, "nova-ai/old").id == "nova-ai/new"


@pytest.mark.parametrize("with_token", [True, False])
def test_deleted_and_private_models_are_missing(emulator, open_hub, with_token):
    emulator.add_model("nova-ai/inside", private=True)
    hub = open_hub() if with_token else open_hub(False)
    for name in ("nova-ai/inside", "nova-ai/none"):
        with pytest.raises(RepoMissing) as missing:
            model_repo(hub, name)
        assert (missing.value.exit, missing.value.problems[0].code) == (Exit.NO, "repo-missing")


def test_what_is_not_told_is_not_missing(emulator, hub):
    emulator.add_model("nova-ai/nova-7b")
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=500), times=9)])
    with pytest.raises(Failure) as failure:
        model_repo(hub, "nova-ai/nova-7b")
    assert not isinstance(failure.value, RepoMissing)
    assert failure.value.exit is Exit.REMOTE


def test_a_disabled_model_is_told_apart(emulator, hub):
    emulator.add_model("nova-ai/nova-7b", disabled=True)
    with pytest.raises(Disabled):
        model_repo(hub, "nova-ai/nova-7b")


def test_a_gate_keeps_its_card_back_and_no_more(emulator, hub):
    emulator.add_model("nova-ai/nova-7b", {"README.md": "x"}, gated="auto")
    repo = model_repo(hub, "nova-ai/nova-7b")
    assert repo.gated
    with pytest.raises(Gated):
        card_of(hub, repo)


def test_a_model_without_a_card_has_none(emulator, hub):
    emulator.add_model("nova-ai/nova-7b", {"config.json": "{}"})
    assert card_of(hub, model_repo(hub, "nova-ai/nova-7b")) is None


def test_namespaces_are_of_organisations_persons_or_nobody(emulator, hub):
    emulator.add_organisation("nova-ai")
    emulator.add_user("visitor")
    assert [namespace_kind(hub, one) for one in ("nova-ai", "visitor", "nobody")] == ["org", "user", None]
    emulator.add_model("visitor/own")
    assert model_repo(hub, "visitor/own").kind == "user"


def test_discussions_are_open_closed_or_not_told(emulator, open_hub):
    made = emulator.add_model("nova-ai/nova-7b")
    assert discussions_open(open_hub(), "nova-ai/nova-7b")
    emulator.change(made, discussions_disabled=True)
    assert not discussions_open(open_hub(), "nova-ai/nova-7b")
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=403), path="*/discussions", times=9)])
    assert not discussions_open(open_hub(), "nova-ai/nova-7b")  # the model itself says so
    emulator.change(made, discussions_disabled=False)
    with pytest.raises(Failure) as failure:
        discussions_open(open_hub(), "nova-ai/nova-7b")
    assert failure.value.problems[0].code == "hub-refused"


def test_metadata_that_keep_a_model_out_of_views_are_told(emulator, hub):
    emulator.add_model("nova-ai/tmax-27b", {"README.md": "x"}, parameters={"BF16": 2_600_000})
    emulator.add_model("nova-ai/moe-30B-A3B", {"README.md": "x"}, parameters={"BF16": 30_500_000_000})
    emulator.add_model("nova-ai/odd", {"README.md": card("Odd", base_model="nova-ai/odd")})
    assert problems(model_repo(hub, "nova-ai/tmax-27b")) == [
        ("odd-parameter-count", "2,600,000 parameters counted, 27,000,000,000 by its name: views of sizes misplace it")
    ]
    assert problems(model_repo(hub, "nova-ai/moe-30B-A3B")) == []
    assert problems(model_repo(hub, "nova-ai/odd")) == [
        ("no-parameter-count", "no count of parameters in its safetensors: it is in no view of a size"),
        ("own-base", "its card names the model itself as its base: the default view hides it"),
    ]


@pytest.mark.parametrize(
    ("url", "repo"),
    [
        ("https://huggingface.co/nova-ai/nova-7b/tree/main?x=1", "nova-ai/nova-7b"),
        ("https://hf.co/nova-ai/nova-7b", "nova-ai/nova-7b"),
        ("http://www.huggingface.co/nova-ai/nova-7b/", "nova-ai/nova-7b"),
        ("huggingface.co/nova-ai/Nova.7b_v1.1#card", "nova-ai/Nova.7b_v1.1"),
        ("https://huggingface.co/nova-ai/nova%2D7b/blob/main/README.md", "nova-ai/nova-7b"),
        (" nova-ai/nova-7b ", "nova-ai/nova-7b"),
        ("https://huggingface.co/datasets/nova-ai/data", None),
        ("https://huggingface.co/spaces/nova-ai/app", None),
        ("https://huggingface.co/collections/nova-ai/nova-66f0", None),
        ("https://huggingface.co/papers/2501.00001", None),
        ("https://huggingface.co/nova-ai", None),
        ("https://github.com/nova-ai/nova-7b", None),
        ("https://huggingface.co.example.org/nova-ai/nova-7b", None),
        ("ftp://huggingface.co/nova-ai/nova-7b", None),
        ("https://huggingface.co/nova-ai/../nova", None),
        ("nova-ai/nova 7b", None),
        ("datasets/data", None),
        ("", None),
    ],
)
def test_an_address_is_of_a_model_or_of_none(url, repo):
    assert normalise_url(url) == repo
