"""Which runs the options of an audit mean, and what is said of each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchwright.audit.command import _iris
from benchwright.audit.manifest import NO_HINT, Hint
from benchwright.audit.options import Asked, AuditOptions
from benchwright.contract import Exit, Failure
from benchwright.rehearsal.harbor_jobs import grow_job


def test_one_job_of_a_bucket_has_what_the_options_and_then_the_manifest_say_of_it(tmp_path):
    manifest = tmp_path / "runs.csv"
    lines = ["job_dir,model,row_id", "s3://results/ot-agent/job,org/m,r1"]
    lines += ["s3://results/ot-agent/other,org/x,r2", "job,,r3"]
    manifest.write_text("\n".join(lines))
    options = AuditOptions(
        iris=("s3://results/ot-agent",), iris_job="job", manifest=manifest, hint=Hint(model="org/said", traces="o/n")
    )
    entries = Asked.by(options).entries
    assert [entry.remote for entry in entries] == ["s3://results/ot-agent/job"]
    source = _iris(options, entries)
    assert source.hints == {"job": Hint(model="org/said", row_id="r1", traces="o/n")}


def test_a_manifest_beside_folders_says_more_of_them_and_adds_none(tmp_path):
    manifest = tmp_path / "runs.csv"
    manifest.write_text("job_dir,model\na,org/a\nb,org/b\n")
    options = AuditOptions(job_dirs=(tmp_path / "a", tmp_path / "c"), manifest=manifest, jobs_root=tmp_path)
    assert [(entry.path, entry.hint) for entry in Asked.by(options).entries] == [
        (tmp_path / "a", Hint(model="org/a")),
        (tmp_path / "c", NO_HINT),
    ]
    (remark,) = Asked.by(options).remarks
    assert (remark.code, remark.where, remark.found) == (
        "not-listed",
        f"{tmp_path / 'c'}",
        f"{manifest} does not list it",
    )
    assert (remark.expected, remark.fix) == ("a line with its job_dir", "add one, or leave --manifest out")
    with pytest.raises(Failure) as failure:
        Asked.by(replace(options, all_listed=True))
    assert (failure.value.exit, failure.value.problems) == (Exit.USAGE, (remark,))


@pytest.mark.parametrize("listed", ["real", "link"])
def test_a_manifest_may_name_another_path_to_a_folder(tmp_path, listed):
    grow_job(tmp_path / "real" / "run", ["pass"])
    (tmp_path / "link").symlink_to("real")
    manifest = tmp_path / "runs.csv"
    manifest.write_text(f"job_dir,model\n{listed}/run,org/a\n")
    for named in (tmp_path / "real" / "run", tmp_path / "link" / "run", tmp_path / "link" / ".." / "real" / "run"):
        asked = Asked.by(AuditOptions(job_dirs=(named,), manifest=manifest, jobs_root=tmp_path))
        assert (asked.entries[0].hint, asked.remarks) == (Hint(model="org/a"), ())


def test_a_manifest_beside_folders_and_buckets_says_more_of_their_jobs_too(tmp_path):
    manifest = tmp_path / "runs.csv"
    manifest.write_text("job_dir,model,row_id\na,org/a,\ns3://results/ot-agent/job,org/m,r1\nb,org/b,\n")
    options = AuditOptions(job_dirs=(tmp_path / "a",), iris=("s3://results/ot-agent",), manifest=manifest)
    entries = Asked.by(options).entries
    assert [entry.path.name for entry in entries] == ["a", "job"]
    remote = [entry for entry in entries if entry.remote]
    assert _iris(options, remote).hints == {"job": Hint(model="org/m", row_id="r1")}
