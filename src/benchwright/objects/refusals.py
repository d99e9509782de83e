"""What the refusals of all kinds of stores amount to. ``said`` is what the store said, without any secret in it."""

from __future__ import annotations

from benchwright.contract import Exit, Failure, Problem


def missing_client(error: ModuleNotFoundError, package: str, stores: str, extra: str) -> Failure:
    """The client is not installed."""
    fix = f"make setup in a checkout, or pip install 'benchwright[{extra}]'"
    return lacking("missing-package", error.name or package, "not installed", f"{package}, for {stores}", fix)


def unavailable(where: str, said: str, attempts: int) -> Failure:
    """An error that may pass, and did not in so many attempts."""
    found = f"{said}, {attempts} times" if attempts > 1 else said
    return Failure(Problem("store-unavailable", where, found, "an answer", "run this again later"), exit=Exit.REMOTE)


def credentials_refused(where: str, said: str, fix: str) -> Failure:
    """The credentials do not count."""
    return lacking("credentials-refused", where, said, "credentials that the store knows", fix)


def no_bucket(where: str, said: str) -> Failure:
    """There is no such bucket."""
    return lacking("no-bucket", where, said, "a bucket that exists", "correct the bucket's name, or create it")


def no_permission(where: str, said: str, whom: str, otherwise: str) -> Failure:
    """The credentials' rights do not suffice; grant ``whom`` more, or do ``otherwise``."""
    fix = f"grant {whom} the right to list, read and write in this bucket, or {otherwise}"
    return lacking("no-permission", where, said, "permission", fix)


def lacking(code: str, where: str, found: str, expected: str, fix: str) -> Failure:
    """What this machine or its account lacks (exit 3)."""
    return Failure(Problem(code, where, found, expected, fix), exit=Exit.ENVIRONMENT)


def refused(where: str, said: str) -> Failure:
    """Any other error."""
    problem = Problem("store-refused", where, said, "the request to be accepted", "run this again later")
    return Failure(problem, exit=Exit.REMOTE)
