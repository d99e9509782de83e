"""The upload of a planned artifact: claimed first, marked complete last, and proved by reading it back.

The order makes every moment safe to be killed in. ``manifest.json`` is written first, on the condition that nobody
wrote one: it says what will be there, and so claims the place. What a run finds that its manifest lists is not sent
again. ``metadata.yaml``, the marker that readers go by, is written when all the rest is there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes
from typing import Any

from benchwright.contract import Exit, Failure, Outcome, Problem, Progress
from benchwright.objects import Conflict, ObjectInfo, ObjectStore
from benchwright.processing import layout
from benchwright.publish.byte_count import ByteCount
from benchwright.publish.hosted import MANIFEST, HostedManifest
from benchwright.publish.proof import Verification
from benchwright.publish.standing import Standing, is_equal, look
from benchwright.publish.upload_plan import PlannedObject, UploadPlan
from benchwright.publish.verify import LOCAL_FILES, verify_objects

_LOOKS = 3
"""How often the place is looked at again after someone else wrote there first."""


@dataclass(frozen=True)
class UploadReport:
    """What an upload did, by object names: sent now, found there already, replaced or removed; and the proof of it."""

    plan: UploadPlan
    sent: tuple[str, ...]
    kept: tuple[str, ...]
    replaced: tuple[str, ...]
    verification: Verification

    def outcome(self, next: Sequence[str]) -> Outcome:
        """The report in a script's form; ``next`` are the commands that follow a proved upload."""
        how = f"{len(self.sent)} sent, {len(self.kept)} there already"
        if self.replaced:
            how += f", {len(self.replaced)} of a predecessor replaced"
        data = self.plan.to_dict() | self.to_dict() | {"applied": True}
        commands = next if self.verification.ok else ()
        return self.verification.outcome(f"{self.plan.label}: {how}", data, remarks=self.plan.remarks, next=commands)

    def to_dict(self) -> dict[str, Any]:
        """The report in the JSON envelope's form."""
        return {
            "sent": list(self.sent),
            "kept": list(self.kept),
            "replaced": list(self.replaced),
            "verification": self.verification.to_dict(),
        }


def upload(
    plan: UploadPlan, store: ObjectStore, *, replace: bool = False, progress: Progress | None = None
) -> UploadReport:
    """Put a planned artifact in its place and read it back; what is there already is not sent again.

    With ``replace``, another artifact in that place is replaced: the new manifest lists it, the marker goes, then the
    objects are exchanged, each on the condition that it is still the one that was seen; nothing is removed once
    someone else has claimed the place. Nothing is taken on trust then: what counts as there is read back first. At the
    end, what killed uploads of a day ago or earlier left is removed.

    Raises:
        MetadataDiffers: all that is hosted is the planned artifact but for its ``metadata.yaml`` (exit 5).
        Failure: another artifact or another upload is there, or came in between (exit 5); the artifact's files changed
            (code ``content-changed``, exit 1); as the store does (exit 3 or 4). What is wrong with an object that
            was read back is a problem of the report's verification instead.
    """
    standing, claim = _claimed(plan, store, replace)
    count = ByteCount(progress, sum(planned.size for planned in standing.outstanding) + plan.size)
    sent = _send_all(standing, claim, store, count)
    verification = verify_objects(store, plan.manifest, basis=LOCAL_FILES, count=count)
    with contextlib.suppress(Failure):  # a key may lack the right to list them; they do no harm, and cost little
        store.discard_unfinished(f"{plan.prefix}/")
    kept = tuple(planned.name for planned in plan.objects if planned.name not in sent)
    gone = {*sent, *(info.key.removeprefix(f"{plan.prefix}/") for info in standing.obsolete)}
    replaced = tuple(name for name in standing.found if name in gone and name not in standing.equal)
    return UploadReport(plan, sent, kept, replaced, verification)


def _claimed(plan: UploadPlan, store: ObjectStore, replace: bool) -> tuple[Standing, ObjectInfo]:
    """What is at the place once it is ours, and the manifest that says so."""
    for _ in range(_LOOKS):
        standing = look(plan, store, trust=not replace)
        refusal = standing.refusal()
        if refusal is not None and not replace:
            raise refusal
        if refusal is None and standing.ours and standing.manifest is not None:
            return standing, standing.manifest.info
        try:
            claimed = _claim(standing, store)
        except Conflict:
            continue  # someone else claimed it meanwhile: for the same artifact, or for another
        return with_changes(standing, manifest=claimed), claimed.info
    found, fix = "others keep writing here", "let them end, then run this again"
    raise Failure(Problem("conflict", plan.url, found, "one upload at a time", fix), exit=Exit.REFUSED)


def _claim(standing: Standing, store: ObjectStore) -> HostedManifest:
    """Write the manifest, where nobody did or over the one that was seen.

    Raises:
        Conflict: someone was faster.
    """
    manifest = standing.successor()
    key = f"{standing.plan.prefix}/{MANIFEST}"
    there = standing.manifest
    info = store.put(
        key, manifest.to_bytes(), if_absent=there is None, if_match=None if there is None else there.info.etag
    )
    return HostedManifest(manifest, info)


def _send_all(standing: Standing, claim: ObjectInfo, store: ObjectStore, count: ByteCount) -> tuple[str, ...]:
    """Send what is outstanding, the marker last; the names of what was sent."""
    plan = standing.plan
    last = next(planned for planned in plan.objects if planned.name == layout.METADATA)
    if not standing.outstanding and not standing.obsolete:
        return ()
    if standing.marked:
        _unmark(last, standing.found[last.name], plan, claim, store)
    parts = [planned for planned in standing.outstanding if planned.name != layout.METADATA]
    sent = [part.name for part in parts if _send(part, standing.found.get(part.name), plan, store, count)]
    for info in standing.obsolete:
        _check_claim(plan, claim, store)
        store.delete(info.key, if_match=info.etag)
    _check_claim(plan, claim, store)
    if _send(last, None, plan, store, count):
        sent.append(last.name)
    return tuple(sent)


def _unmark(planned: PlannedObject, seen: ObjectInfo, plan: UploadPlan, claim: ObjectInfo, store: ObjectStore) -> None:
    """Remove the marker that was seen; the one that another run of this upload may have set by now stays."""
    _check_claim(plan, claim, store)
    try:
        store.delete(seen.key, if_match=seen.etag)
    except Conflict:
        if not _is_there(planned, seen.key, store):
            raise


def _send(
    planned: PlannedObject, there: ObjectInfo | None, plan: UploadPlan, store: ObjectStore, count: ByteCount
) -> bool:
    """Put one object where none is, or over the version that was seen; False when another run of this did it."""
    key = f"{plan.prefix}/{planned.name}"
    count.note = planned.name
    try:
        store.put_stream(
            key,
            _counted(planned.chunks(), count),
            sha256=planned.sha256,
            size=planned.size,
            if_absent=there is None,
            if_match=there.etag if there is not None else None,
        )
    except Conflict:
        if not _is_there(planned, key, store):
            raise
        return False
    return True


def _is_there(planned: PlannedObject, key: str, store: ObjectStore) -> bool:
    """Whether whoever was faster put the planned content there."""
    now = store.head(key)
    return now is not None and is_equal(planned, now, store)


def _counted(chunks: Iterator[bytes], count: ByteCount) -> Iterator[bytes]:
    for chunk in chunks:
        yield chunk
        count(len(chunk))


def _check_claim(plan: UploadPlan, claim: ObjectInfo, store: ObjectStore) -> None:
    """Refuse to remove anything from a place, or to mark it as complete, that someone else has claimed meanwhile."""
    now = store.head(f"{plan.prefix}/{MANIFEST}")
    if now is None or now.etag != claim.etag:
        found, fix = "claimed by another upload meanwhile", "look at what is there now, then run this again"
        raise Failure(Problem("conflict", plan.url, found, "the manifest of this upload", fix), exit=Exit.REFUSED)
