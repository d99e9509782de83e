"""The stand-in for PostgREST knows few words, and refuses every other one."""

from __future__ import annotations

import httpx
import psycopg
import pytest
from supabase import ClientOptions, create_client

from benchwright.rehearsal.postgrest_standin import Answer
from eval_databases import numbered
from waiting import wait_until


@pytest.fixture
def ask(eval_rows):
    """A request with the service key."""
    for name in ("a", "b", 'c",(d)\\', "e"):
        eval_rows.benchmark(name)
    eval_rows.load()
    key = eval_rows.standin.service_key
    headers = {"apikey": key, "Authorization": f"Bearer {key}"}

    def send(path="benchmarks?select=name&order=id", *, method="GET", **more):
        more.setdefault("headers", {})
        return httpx.request(
            method, f"{eval_rows.standin.url}/rest/v1/{path}", headers=headers | more.pop("headers"), **more
        )

    return send


def names(answer):
    assert answer.status_code in {200, 206}, answer.text
    return [row["name"] for row in answer.json()]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", ["a", "b", 'c",(d)\\', "e"]),
        ("&name=eq.a", ["a"]),
        ("&name=gt.b", ['c",(d)\\', "e"]),
        ("&name=gte.b&name=gte.e", ["e"]),
        ("&name=in.(a,e)", ["a", "e"]),
        ('&name=in.("c\\",(d)\\\\",b)', ["b", 'c",(d)\\']),
        ("&name=in.()", []),
        ("&or=(name.eq.a,name.gt.c)", ["a", 'c",(d)\\', "e"]),
        ('&or=(name.eq."a",and(name.gt.b,name.eq."c\\",(d)\\\\"))', ["a", 'c",(d)\\']),
        ("&and=(name.gt.a,or(name.eq.b,name.eq.e))", ["b", "e"]),
        ("&limit=2", ["a", "b"]),
        ("&limit=0", []),
        (f"&id=gt.{numbered(3)}", ["e"]),
        ("&name=eq.%27%3B%20DROP%20TABLE%20benchmarks%3B%20--", []),
    ],
)
def test_the_words_it_knows(ask, words, found):
    assert names(ask("benchmarks?select=name&order=id" + words)) == found


@pytest.mark.parametrize(
    "words",
    [
        "name=neq.a", "name=like.a*", "name=not.eq.a", "name=is.null", "name=a", "offset=1", "limit=-1", "limit=x",
        "order=id.desc", "order=id.asc.nullslast", "select=name,models(*)", "select=n:name", "select=name::text",
        "select=count()", "or=name.eq.a", "or=(name.eq.a", "or=(name.eq.a)x", "or=()", "or=(name.eq.a,)", "not.or=(a)",
        "name=in.a", "name=in.(a", "on_conflict=id", "limit=1&limit=2", "select=*&select=id", "columns=id",
    ],
)  # fmt: skip
def test_any_other_word_is_an_error(ask, words):
    answer = ask(f"benchmarks?{words}")
    assert answer.status_code == 400
    assert answer.json()["code"] == "STANDIN"
    assert answer.json()["message"].startswith("the stand-in does not know ")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "OPTIONS"])
def test_any_other_method_is_an_error_and_seen(ask, eval_rows, method):
    answer = ask("benchmarks?name=eq.a", method=method, content=b"{}")
    assert answer.status_code == 400
    assert eval_rows.standin.seen[-1].method == method
    assert len(names(ask())) == 4


@pytest.mark.parametrize(
    "headers",
    [
        {"Prefer": "count=planned"},
        {"Prefer": "return=representation"},
        {"Accept": "text/csv"},
        {"Accept-Profile": "private"},
        {"Range": "0-9"},
    ],
)
def test_any_other_preference_is_an_error(ask, headers):
    assert ask(headers=headers).json()["code"] == "STANDIN"


REPRESENT = {"Prefer": "return=representation"}
UPSERT = {"Prefer": "return=representation,resolution=ignore-duplicates"}
NEW = {"id": numbered(50), "name": "new"}
UPSERTED = 'benchmarks?on_conflict=id&columns="id","name"'


@pytest.mark.parametrize(
    ("method", "path", "headers", "body"),
    [
        ("POST", UPSERTED, {}, [NEW]),
        ("POST", UPSERTED, REPRESENT, [NEW]),
        ("POST", UPSERTED, {"Prefer": "return=representation,resolution=merge-duplicates"}, [NEW]),
        ("POST", UPSERTED, UPSERT, NEW),
        ("POST", UPSERTED, UPSERT, []),
        ("POST", UPSERTED, UPSERT, [NEW, {"id": numbered(51)}]),
        ("POST", 'benchmarks?columns="id","name"', UPSERT, [NEW]),
        ("POST", "benchmarks?on_conflict=id", UPSERT, [NEW]),
        ("POST", "benchmarks?on_conflict=id&columns=id,name", UPSERT, [NEW]),
        ("POST", UPSERTED + "&select=id", UPSERT, [NEW]),
        ("PATCH", "benchmarks?name=eq.a", {}, {"name": "x"}),
        ("PATCH", "benchmarks?name=eq.a", {"Prefer": "return=minimal"}, {"name": "x"}),
        ("PATCH", "benchmarks", REPRESENT, {"name": "x"}),
        ("PATCH", "benchmarks?name=eq.a", REPRESENT, {}),
        ("PATCH", "benchmarks?name=eq.a", REPRESENT, [{"name": "x"}]),
        ("PATCH", "benchmarks?name=not.is.null", REPRESENT, {"name": "x"}),
        ("PATCH", "benchmarks?name=eq.a&limit=1", REPRESENT, {"name": "x"}),
        ("POST", "rpc/f?x=eq.1", {}, {}),
        ("POST", "rpc/f", {}, []),
        ("POST", "rpc/f", REPRESENT, {}),
        ("GET", "rpc/f", {}, None),
    ],
)
def test_any_other_way_of_writing_is_an_error(ask, method, path, headers, body):
    answer = ask(path, method=method, headers=headers, json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "STANDIN")
    assert names(ask()) == ["a", "b", 'c",(d)\\', "e"]


def test_writing(ask):
    answer = ask(UPSERTED, method="POST", headers=UPSERT, json=[NEW, {"id": numbered(1), "name": "other"}])
    assert (answer.status_code, [row["name"] for row in answer.json()]) == (201, ["new"])
    answer = ask("benchmarks?name=eq.a&duplicate_of=is.null", method="PATCH", headers=REPRESENT, json={"name": "x"})
    assert (answer.status_code, [row["id"] for row in answer.json()]) == (200, [numbered(1)])
    answer = ask(
        "benchmarks?name=eq.b&duplicate_of=eq." + numbered(1), method="PATCH", headers=REPRESENT, json={"name": "y"}
    )
    assert (answer.status_code, answer.json()) == (200, [])
    assert names(ask()) == ["x", "b", 'c",(d)\\', "e", "new"]


def test_functions(ask, eval_rows):
    eval_rows.execute(
        "CREATE FUNCTION twice(n integer, of jsonb) RETURNS jsonb LANGUAGE sql AS"
        " $$ SELECT jsonb_build_object('n', 2 * n, 'of', of) $$"
    )
    try:
        answer = ask("rpc/twice", method="POST", json={"of": {"a": 1}, "n": 2})
        assert (answer.status_code, answer.json()) == (200, {"n": 4, "of": {"a": 1}})
        for arguments in ({"n": 2}, {"n": 2, "of": {}, "x": 1}):
            answer = ask("rpc/twice", method="POST", json=arguments)
            assert (answer.status_code, answer.json()["code"]) == (404, "PGRST202")
    finally:
        eval_rows.execute("DROP FUNCTION twice")
    assert ask("rpc/no_such", method="POST", json={}).status_code == 404


def test_a_line_cut_before_and_after_a_write(ask, eval_rows):
    for fault, wanted in (("fault", "a"), ("fault_after", "x")):
        setattr(eval_rows.standin, fault, lambda request: Answer(0) if request.method == "PATCH" else None)
        with pytest.raises(httpx.RemoteProtocolError):
            ask("benchmarks?name=eq.a", method="PATCH", headers=REPRESENT, json={"name": "x"})
        eval_rows.standin.fault = None
        assert names(ask())[0] == wanted


@pytest.mark.parametrize("path", ["", "benchmarks/1", "../../auth/v1/user"])
def test_any_other_path_is_an_error(ask, path):
    assert ask(path).status_code in {400, 404}


def test_keys_and_roles(eval_rows, ask):
    url = f"{eval_rows.standin.url}/rest/v1/benchmarks"
    anon, service = eval_rows.standin.anon_key, eval_rows.standin.service_key
    assert httpx.get(url).json() == {"message": "No API key found in request"}
    for key, bearer in (("x", "x"), (anon, service), (anon, None)):
        headers = {"apikey": key} | ({"Authorization": f"Bearer {bearer}"} if bearer else {})
        answer = httpx.get(url, headers=headers)
        assert (answer.status_code, answer.json()) == (401, {"message": "Invalid API key"})
    eval_rows.execute("REVOKE SELECT ON benchmarks FROM anon, service_role")
    try:
        answers = {
            key: httpx.get(url, headers={"apikey": key, "Authorization": f"Bearer {key}"}) for key in (anon, service)
        }
    finally:
        eval_rows.execute("GRANT SELECT ON benchmarks TO anon, service_role")
    assert [answer.status_code for answer in answers.values()] == [401, 403]
    assert {answer.json()["code"] for answer in answers.values()} == {"42501"}


def test_errors_of_the_database(ask):
    answer = ask("no_such_table")
    assert (answer.status_code, answer.json()["code"]) == (404, "PGRST205")
    assert ask("benchmarks?no_such_column=eq.1").json()["code"] == "42703"
    assert ask("benchmarks?id=eq.1").json()["code"] == "22P02"
    assert ask("benchmarks?name=eq.%00").status_code >= 400
    assert ask("pg_user").status_code == 404


def test_no_more_than_a_thousand_rows(eval_rows):
    for number in range(1001):
        eval_rows.benchmark(f"{number}")
    eval_rows.load()
    options = ClientOptions(httpx_client=httpx.Client())
    client = create_client(eval_rows.standin.url, eval_rows.standin.anon_key, options)
    answer = client.table("benchmarks").select("*", count="exact").order("id").limit(5000).execute()
    assert (len(answer.data), answer.count) == (1000, 1001)
    assert len(client.table("benchmarks").select("id").execute().data) == 1000


def test_an_address_that_is_too_long(ask):
    assert ask(f"benchmarks?name=eq.{'a' * 8000}").status_code == 414


def test_a_line_is_forgotten_even_where_its_database_cannot_be_closed(ask, eval_rows, monkeypatch):
    lines = eval_rows.standin._server.lines
    close, closed = psycopg.Connection.close, []

    def fail(connection):
        close(connection)
        closed.append(connection)
        raise psycopg.OperationalError("the connection is lost")

    before = set(lines)
    monkeypatch.setattr(psycopg.Connection, "close", fail)
    names(ask())
    wait_until(lambda: closed)
    wait_until(lambda: lines <= before)
