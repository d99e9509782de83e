"""Leads from a real Postgres with the contract's view over tables of the plainest kind."""

from __future__ import annotations

import psycopg
import pytest

from benchwright.contract import Exit, Failure
from benchwright.hub.candidates.mapping import BoardMapping
from benchwright.hub.candidates.pwc_database import database_leads
from benchwright.rehearsal.hub.sample import card
from candidate_lists import SCRIPTS, Lists

VIEW = SCRIPTS.parent / "references" / "hub_port_candidates_v1.sql"
TABLES = """
create table papers  (id bigint primary key, arxiv_id text, title text not null, url text, published date);
create table tasks   (id bigint primary key, name text not null, slug text unique);
create table datasets(id bigint primary key, name text not null, slug text unique, hf_url text);
create table metrics (id bigint primary key, dataset_id bigint references datasets, name text not null,
                      higher_is_better boolean not null default true, unit text);
create table models  (id bigint primary key, name text not null, hf_model_url text, num_parameters bigint,
                      is_open boolean);
create table results (id bigint primary key, paper_id bigint references papers, model_id bigint references models,
                      task_id bigint references tasks, dataset_id bigint references datasets,
                      metric_id bigint references metrics, value_text text not null, value numeric, harness text,
                      uses_additional_data boolean, evaluated_on date, source_url text, hf_model_url text,
                      created_at timestamptz default now());
"""
ROWS = """
insert into papers values (1, '2601.00001', 'Old', null, '2026-01-01'),
                          (2, null, 'New', 'https://x.org/p', '2026-05-01');
insert into tasks values (1, 'Reasoning', 'reasoning');
insert into datasets values (1, 'Logic-1k', 'logic-1000', null), (2, 'Unmapped', 'unmapped', null);
insert into metrics values (1, 1, 'Accuracy', true, 'percent'), (2, 1, 'Time', false, null), (3, 1, 'F1', true, null),
                           (4, 2, 'Accuracy', true, null);
insert into models values (1, 'Nova 7B', 'https://huggingface.co/nova-ai/nova-7b/', 7000000000, true),
                          (2, 'Closed', null, null, false), (3, 'Nova 1B', '', null, true);
insert into results (id, paper_id, model_id, task_id, dataset_id, metric_id, value_text, value, harness, evaluated_on,
                     source_url, hf_model_url) values
    (1, 1, 1, 1, 1, 1, '0.6270', 0.627, 'Harness 1.2', '2025-12-24', null, ''),
    (2, 2, 1, null, 1, 2, '', 12.50, null, null, null, null),
    (3, 2, 1, null, 1, 3, '50', 50, null, null, null, null),
    (4, 2, 1, null, 2, 4, '50', 50, null, null, null, null),
    (5, 2, 2, null, 1, 1, '50', 50, null, null, null, null),
    (6, null, 3, null, 1, 1, '51', 51, null, null, 'https://x.org/six', 'hf.co/nova-ai/nova-1b'),
    (7, null, 3, null, 1, 1, '52', 52, null, null, null, null);
"""


@pytest.fixture
def database(postgres_server):
    """A database of its own on the session's server, by its address."""
    with psycopg.connect(postgres_server.url, autocommit=True) as admin:
        admin.execute("DROP DATABASE IF EXISTS pwc WITH (FORCE)")
        admin.execute("CREATE DATABASE pwc")
    url = postgres_server.url.replace("@/postgres", "@/pwc")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TABLES)
        connection.execute(VIEW.read_text())
        connection.execute(ROWS)
    return url


@pytest.fixture
def mapping(tmp_path):
    return BoardMapping.load(Lists(tmp_path).mapping)


def change(url, statement):
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def refusal(url, mapping, **more):
    with pytest.raises(Failure) as failure:
        database_leads({"PWC_DATABASE_URL": url}, mapping, **more)
    (problem,) = failure.value.problems
    return failure.value.exit, problem.code, problem.found


def test_results_of_mapped_benchmarks_come_newest_first(database, mapping):
    leads = database_leads({"PWC_DATABASE_URL": database}, mapping)
    assert [lead.id for lead in leads] == ["2", "3", "1", "6"]
    timed, _, fraction, undated = leads
    assert (timed.value_text, timed.metric, timed.source_url) == ("12.50", "Time", "https://x.org/p")
    assert (fraction.value_text, fraction.unit, fraction.benchmark) == ("0.6270", "percent", ("logic-1000", "Logic-1k"))
    assert (fraction.source_url, fraction.published) == ("https://arxiv.org/abs/2601.00001", "2026-01-01")
    assert (fraction.evaluated_on, fraction.harness, fraction.pwc_task) == ("2025-12-24", "Harness 1.2", "reasoning")
    assert (undated.url, undated.source_url, undated.published) == ("hf.co/nova-ai/nova-1b", "https://x.org/six", "")


def test_a_database_s_fraction_is_corrected_and_said(database, tmp_path, emulator, logic, peers):
    peers([70, 60, 50, 40, 30])
    for name in ("nova-ai/nova-7b", "nova-ai/nova-1b"):
        emulator.add_model(name, {"README.md": card(name)}, parameters={"BF16": 10**9})
    outcome, rows = Lists(tmp_path).search(source="db", settings={"PWC_DATABASE_URL": database})
    found = {row["pwc_result_id"]: row for row in rows}
    assert found["1"]["board_value_guess"] == "62.70"
    assert found["1"]["corrections"] == "Papers With Code has 0.6270 where the board is in percent: 62.70"
    assert found["1"]["notes"] == "harness: Harness 1.2"
    assert found["1"]["status"] == found["6"]["status"] == "candidate"
    assert outcome.data["corrections"][0]["correction"] == found["1"]["corrections"]


def test_an_interrupted_search_asks_the_database_once(database, tmp_path, emulator, logic):
    lists = Lists(tmp_path)
    _, before = lists.search(source="db", settings={"PWC_DATABASE_URL": database})
    assert {row["status"] for row in before} == {"repo_missing"}
    _, after = lists.search(source="db", settings={})
    assert after == before


def test_the_session_can_write_nothing(database, mapping):
    change(database, "CREATE FUNCTION spoil() RETURNS text LANGUAGE sql AS $$ DELETE FROM results RETURNING '' $$")
    change(database, VIEW.read_text().replace("m.name as model_name", "coalesce(spoil(), m.name) as model_name"))
    exit, code, found = refusal(database, mapping)
    assert (exit, code) == (Exit.REMOTE, "database-unavailable")
    assert found == "cannot execute DELETE in a read-only transaction"
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM results").fetchone() == (7,)


def test_a_statement_that_takes_too_long_is_ended_by_the_server(database, mapping):
    change(database, VIEW.read_text().replace("m.name as", "m.name || pg_sleep(1)::text as"))
    assert refusal(database, mapping, seconds=0.2) == (Exit.REMOTE, "database-unavailable", "no answer within 0.2 s")


def test_a_database_without_the_view_says_what_to_ask_for(database, mapping):
    change(database, "ALTER VIEW hub_port_candidates_v1 RENAME COLUMN harness TO harness_name")
    found = "hub_port_candidates_v1 without harness"
    assert refusal(database, mapping) == (Exit.ENVIRONMENT, "no-such-view", found)
    change(database, "DROP VIEW hub_port_candidates_v1")
    found = 'relation "hub_port_candidates_v1" does not exist'
    assert refusal(database, mapping) == (Exit.ENVIRONMENT, "no-such-view", found)


def test_a_role_that_may_not_read_it_says_so(database, mapping):
    change(database, "DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN")
    found = "permission denied for view hub_port_candidates_v1"
    assert refusal(database.replace("postgres@", "stranger@"), mapping) == (Exit.ENVIRONMENT, "no-permission", found)


@pytest.mark.parametrize("url", ["mysql://x", "postgresql://me:p@ss@host/pwc", "postgresql://h:port/pwc", "host="])
def test_an_address_that_is_none_is_not_shown(mapping, url):
    exit, code, found = refusal(url, mapping)
    assert exit is Exit.ENVIRONMENT or (exit, code) == (Exit.REMOTE, "database-unavailable")
    assert "ss@host" not in found


def test_a_server_that_is_not_there_may_be_later(mapping, tmp_path):
    assert refusal(f"postgresql://me@/pwc?host={tmp_path}", mapping)[:2] == (Exit.REMOTE, "database-unavailable")
