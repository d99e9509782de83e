"""Has an array ended, and how? It is done when every task has ended and nothing that it was to write is missing.

What cannot be told is waited for; silence is never an end.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.node.array_view import ArrayView, Standing
from benchwright.node.array_watch import ALL_THERE, NO_SLURM, NOT_ALL_THERE, Doubt, Poll, Request, Unclear, Verdict
from benchwright.node.lengths import length
from benchwright.slurm import CallError, Trouble, brief_id

_LOOKS_AT_MISSING_RESULTS = 3
"""A file that a node has just written may reach this machine some seconds late."""
_GIVEN_UP = {
    Unclear.OWNER: "NOT YOURS",
    Unclear.JOB: "UNKNOWN",
    Unclear.QUEUE: "UNREACHABLE",
    Unclear.ACCOUNTS: "LOST",
    Unclear.RESULTS: "INCOMPLETE",
}


def ending(request: Request, poll: Poll, view: ArrayView, *, seen: bool) -> Verdict | Doubt | None:
    """The verdict, what has to become clear first, or None while the array is at work.

    ``seen`` says that the job was known at this poll or at an earlier one.
    """
    error = poll.queue_error
    if error is not None and error.trouble in (Trouble.NO_CLIENT, Trouble.NO_CLUSTER):
        return Verdict("NO SLURM", NO_SLURM, f"{error}; run this on the cluster's head node")
    if view.owner not in ("", request.user):
        text = f"it belongs to {view.owner}, not to {request.user}: is the id right? --user {view.owner} if it is"
        return Doubt(Unclear.OWNER, text, poll.clock)
    settled = not view.active and not view.count(Standing.UNKNOWN)
    if error is not None and not (settled and not view.count(Standing.FAILED)):
        return Doubt(Unclear.QUEUE, f"no answer from the queue ({error})", poll.clock)
    if not seen:
        return Doubt(Unclear.JOB, f"neither the queue nor the accounts know it ({_silence(poll)})", poll.clock)
    if view.active:
        return None
    if settled:
        return _final(request, poll, view)
    if poll.accounts_never:
        return _by_results(request, poll, view)
    text = f"it has left the queue, and nothing says yet how {_unknown(request, view)} ended{_late(poll, view)}"
    return Doubt(Unclear.ACCOUNTS, text, poll.clock)


def resolved(request: Request, poll: Poll, view: ArrayView, doubt: Doubt) -> Verdict | None:
    """The verdict on a doubt that has lasted; None while it is right to wait."""
    if doubt.kind is Unclear.GAPS:
        if not request.once and doubt.polls < _LOOKS_AT_MISSING_RESULTS:
            return None
        return _gaps(request, poll, doubt)
    if request.once or poll.clock - doubt.since < request.patience:
        return None
    if doubt.kind is Unclear.ACCOUNTS and poll.accounts_error:
        final = _by_results(request, poll, view)
        if isinstance(final, Verdict):
            return final
        if final.kind is Unclear.GAPS:
            return _gaps(request, poll, final)
    text = f"{doubt.text}; given up after {length(request.patience)}{_of_results(request, poll)}"
    return Verdict(_GIVEN_UP[doubt.kind], NOT_ALL_THERE, text)


def _gaps(request: Request, poll: Poll, doubt: Doubt) -> Verdict:
    return Verdict("INCOMPLETE", NOT_ALL_THERE, doubt.text + _of_results(request, poll), doubt.missing)


def _silence(poll: Poll) -> str:
    errors = [str(answer) for answer in (poll.queue, poll.attempts) if isinstance(answer, CallError)]
    return "; ".join(errors) or "no row of it"


def _unknown(request: Request, view: ArrayView) -> str:
    unknown = view.those(Standing.UNKNOWN)
    return brief_id(request.job, unknown) if unknown else f"{view.lacking} tasks"


def _late(poll: Poll, view: ArrayView) -> str:
    """Why the accounts do not say it. Of a task that is cancelled by itself while it waits, SLURM keeps no row."""
    if poll.accounts_error:
        return f": {poll.accounts_error}"
    gone = view.lacking or any(not view.tasks[index].state for index in view.those(Standing.UNKNOWN))
    return ", and the accounts are late" + ", or it was cancelled by itself while it waited" * bool(gone)


def _final(request: Request, poll: Poll, view: ArrayView, *, by_results: bool = False) -> Verdict | Doubt:
    """Every task has ended: is everything there that they should have written?"""
    failed = view.those(Standing.FAILED)
    results, missing = poll.results, poll.missing or {}
    gaps = tuple(place for index, places in sorted(missing.items()) if index not in failed for place in places)
    if gaps:
        failures = f"; {len(failed)} other tasks failed" if failed else ""
        return _incomplete(poll, f"{len(gaps)} results of tasks that ended well are missing{failures}", gaps)
    short = results is not None and request.expected is not None and results.complete < request.expected
    if short and poll.missing is None and not failed:
        return _incomplete(poll, f"results are missing, of this array or of others: {poll.no_items}")
    which = f" ({brief_id(request.job, failed)})" if failed else ""
    text = f"{view.total} tasks, {view.total - len(failed)} done, {len(failed)} failed{which}"
    if by_results:
        text += ", some known by their results alone"
    lost = tuple(place for _, places in sorted(missing.items()) for place in places)
    text += _of_results(request, poll) + "".join(f"; {clause}" for clause in without_accounts(poll))
    return Verdict("DONE", NOT_ALL_THERE if failed else ALL_THERE, text, lost)


def _by_results(request: Request, poll: Poll, view: ArrayView) -> Verdict | Doubt:
    """Nothing says how some tasks ended, and nothing will: what they wrote decides."""
    unknown = view.those(Standing.UNKNOWN)
    if poll.missing is not None and unknown:
        gaps = tuple(place for index in unknown for place in poll.missing.get(index, ()))
        if gaps:
            return _incomplete(poll, f"{_unknown(request, view)} ended without {len(gaps)} of their results", gaps)
        return _final(request, poll, view, by_results=True)
    if poll.results is not None and request.expected is not None and poll.results.complete >= request.expected:
        return _final(request, poll, view, by_results=True)
    text = f"it has left the queue, and nothing says how {_unknown(request, view)} ended ({_silence(poll)})"
    return Verdict("UNKNOWN", NOT_ALL_THERE, text + _of_results(request, poll))


def _incomplete(poll: Poll, text: str, missing: tuple[str, ...] = ()) -> Doubt:
    if poll.results is not None and not poll.results.whole_tree:
        return Doubt(Unclear.RESULTS, "every task has ended, and not all results are looked at", poll.clock)
    return Doubt(Unclear.GAPS, text, poll.clock, missing=missing)


def _of_results(request: Request, poll: Poll) -> str:
    """The closing clause of a verdict: how many results there are, and whose the missing ones are."""
    if poll.results is None:
        return ""
    text = f"; results {counted(request, poll)}"
    own = sum(map(len, (poll.missing or {}).values()))
    if request.expected is None or poll.missing is None or poll.results.complete >= request.expected:
        return text
    return f"{text} ({own} of this array missing, {max(0, request.expected - poll.results.complete - own)} of others)"


def without_accounts(poll: Poll) -> Iterator[str]:
    """What the counts go by where there are no accounts."""
    error = poll.accounts_error
    if error is not None:
        off = error.trouble is Trouble.ACCOUNTING_OFF
        state = "accounting is off" if off else f"accounting does not answer ({error})"
        yield f"{state}: counted from the queue and the results alone"


def counted(request: Request, poll: Poll) -> str:
    """The results that are there, ``14 of 50``; a count that is partial says so."""
    if poll.results is None:
        return ""
    least = "" if poll.results.whole_tree else "at least "
    of = "" if request.expected is None else f" of {request.expected}"
    return f"{least}{poll.results.complete}{of}"
