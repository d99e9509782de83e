"""What a token's holder may do with a repo or in a namespace."""

from __future__ import annotations

from benchwright.rehearsal.hub.records import Accounts, Repo
from benchwright.rehearsal.hub.wire import Refusal, Request, refused

NO_LOGIN = "Invalid username or password."
NOT_YOURS = "Forbidden: pass `create_pr=1` as a query parameter to create a Pull Request"
NO_RIGHT = "Authorization error."
NO_DISCUSSIONS = "Discussions are disabled for this repo"


def require_user(request: Request) -> str:
    """The name of who asks.

    Raises:
        Refusal: nobody said who (401).
    """
    if request.user is None:
        raise Refusal(refused(401, NO_LOGIN))
    return request.user


def belongs(accounts: Accounts, user: str | None, namespace: str, *roles: str) -> bool:
    """Whether a namespace is the user's own, or an organisation where the user has one of the roles."""
    account = accounts.people.get(namespace)
    if user is None or account is None:
        return False
    return user == namespace or account.members.get(user) in (roles or ("read", "write", "admin"))


def allows(request: Request, place: str, *permissions: str) -> bool:
    """Whether a fine-grained token has one of the permissions everywhere, at a repo, or at its namespace."""
    rights = request.rights
    if rights is None:
        return False
    given = {*rights.everywhere, *rights.at.get(place, ()), *rights.at.get(place.partition("/")[0], ())}
    return not given.isdisjoint(permissions)


def may_read(accounts: Accounts, request: Request, repo: Repo) -> bool:
    """Whether a repo is there for who asks."""
    if not repo.private:
        return True
    if not belongs(accounts, request.user, repo.namespace) or request.rights is None:
        return False
    return request.rights.role != "fineGrained" or allows(request, repo.id, "repo.content.read", "repo.write")


def may_write_at(accounts: Accounts, request: Request, place: str) -> bool:
    """Whether who asks may create and change repos at a namespace, or change the repo of that name."""
    if request.rights is None or not belongs(accounts, request.user, place.partition("/")[0], "write", "admin"):
        return False
    role = request.rights.role
    return role == "write" or (role == "fineGrained" and allows(request, place, "repo.write"))


def may_discuss(request: Request, repo: Repo) -> bool:
    """Whether who asks may open discussions and pull requests in a repo, and comment there."""
    if request.user is None or request.rights is None:
        return False
    role = request.rights.role
    return role == "write" or (role == "fineGrained" and allows(request, repo.id, "discussion.write", "repo.write"))


def require_discussing(request: Request, repo: Repo) -> None:
    """Raise where who asks cannot open discussions and pull requests in a repo, or comment there.

    Raises:
        Refusal: the owner has none of that, or the token does not allow it (403).
    """
    if repo.discussions_disabled:
        raise Refusal(refused(403, NO_DISCUSSIONS))
    if not may_discuss(request, repo):
        raise Refusal(refused(403, NO_RIGHT))


def may_enter(accounts: Accounts, request: Request, repo: Repo) -> bool:
    """Whether a gate lets who asks read files: its owners, and those it let in, unless the token keeps out of gates."""
    if not repo.gated:
        return True
    if request.rights is None or not request.rights.gated:
        return False
    return request.user in repo.granted or belongs(accounts, request.user, repo.namespace)
