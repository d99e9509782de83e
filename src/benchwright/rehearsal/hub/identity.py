"""Who asks and what they may do, and who is who: persons and organisations."""

from __future__ import annotations

from typing import Any

from benchwright.rehearsal.hub import rights
from benchwright.rehearsal.hub.contents import require_entry
from benchwright.rehearsal.hub.records import Account, Kind, Rights
from benchwright.rehearsal.hub.routing import route
from benchwright.rehearsal.hub.state import HubState, object_id
from benchwright.rehearsal.hub.wire import Answer, Refusal, Request, refused, said


def whoami(state: HubState, request: Request) -> Answer:
    """Tell the holder of a token who that is, and what the token may do."""
    user = rights.require_user(request)
    account = state.accounts.people[user]
    assert request.rights is not None
    orgs = [
        {**_profile(one), "roleInOrg": one.members[user]}
        for one in state.accounts.people.values()
        if user in one.members
    ]
    told = {**_profile(account), "id": object_id(user), "isPro": account.is_pro, "orgs": orgs}
    auth = {"type": "access_token", "accessToken": _token(state, request.rights, account.created)}
    return said(told | {"auth": auth})


def user_overview(state: HubState, _request: Request, *, name: str) -> Answer:
    """Describe a person."""
    account = _require(state, name, "user")
    told = {**_profile(account), "_id": object_id(name), "user": name, "isPro": account.is_pro}
    del told["name"]
    return said(told)


def organisation_overview(state: HubState, _request: Request, *, name: str) -> Answer:
    """Describe an organisation."""
    account = _require(state, name, "org")
    return said({**_profile(account), "_id": object_id(name), "numUsers": len(account.members), "isVerified": False})


def auth_check(state: HubState, request: Request, *, kind: Kind, repo_id: str) -> Answer:
    """Say whether who asks may read a repo's files."""
    repo = state.seen_by(request, kind, repo_id)
    require_entry(state, request, repo)
    return said({})


def auth_check_write(state: HubState, request: Request, *, kind: Kind, repo_id: str) -> Answer:
    """Say whether who asks may write to a repo."""
    repo = state.seen_by(request, kind, repo_id)
    if not rights.may_write_at(state.accounts, request, repo.id):
        raise Refusal(refused(403, rights.NO_RIGHT))
    return said({})


def no_registry(_state: HubState, _request: Request) -> Answer:
    """Refuse the list of agents' harnesses, which newer clients ask for and do without: kept, it would outlive this."""
    raise Refusal(refused(404, "Not here"))


def author(state: HubState, name: str) -> dict[str, Any]:
    """Who owns a repo or said something, as in listings."""
    account = state.accounts.people[name]
    told = {**_profile(account), "_id": object_id(name), "isHf": False, "isHfAdmin": False, "isMod": False}
    return told | ({"isPro": account.is_pro} if account.type == "user" else {})


def _profile(account: Account) -> dict[str, Any]:
    return {
        "type": account.type,
        "name": account.name,
        "fullname": account.fullname,
        "avatarUrl": f"/avatars/{object_id(account.name)}.svg",
    }


def _token(state: HubState, given: Rights, created: str) -> dict[str, Any]:
    told: dict[str, Any] = {"displayName": "rehearsal", "role": given.role, "createdAt": created}
    if given.role == "fineGrained":
        told["fineGrained"] = {
            "canReadGatedRepos": given.gated,
            "global": list(given.everywhere),
            "scoped": [
                {"entity": _entity(state, place), "permissions": list(permissions)}
                for place, permissions in given.at.items()
            ],
        }
    return told


def _entity(state: HubState, place: str) -> dict[str, str]:
    account = state.accounts.people.get(place)
    kind = account.type if account else "model" if state.get("model", place) else "dataset"
    return {"_id": object_id(place), "type": kind, "name": place}


def _require(state: HubState, name: str, kind: str) -> Account:
    account = state.accounts.people.get(name)
    if account is None or account.type != kind:
        what = "user" if kind == "user" else "organization"
        raise Refusal(refused(404, f"This {what} does not exist"))
    return account


ROUTES = [
    route("GET", "/api/whoami-v2", whoami),
    route("GET", "/api/users/{name}/overview", user_overview),
    route("GET", "/api/organizations/{name}/overview", organisation_overview),
    route("GET", "/api/{kind}s/{repo_id}/auth-check", auth_check),
    route("GET", "/api/{kind}s/{repo_id}/auth-check/write", auth_check_write),
    route("GET", "/api/agent-harnesses", no_registry),
]
