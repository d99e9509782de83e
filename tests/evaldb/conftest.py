"""Who reads and writes over a backend."""

from __future__ import annotations

import pytest


@pytest.fixture
def rows(eval_rows):
    """Rows in a database that has the functions."""
    eval_rows.install_functions()
    return eval_rows


@pytest.fixture
def writer(backend, rows):
    writer = rows.writer(backend)
    yield writer
    writer.close()


@pytest.fixture
def database(backend, eval_rows):
    # The service key sees that an empty table is empty, as Postgres does.
    with eval_rows.open(backend, key=eval_rows.standin.service_key) as opened:
        yield opened
