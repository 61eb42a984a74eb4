"""`conn`: a connection as the owner of a module's database; `tx`: the same in a transaction that is rolled back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from mailkeep.db.postgres import Urls

Conn = psycopg.Connection[dict[str, Any]]


@pytest.fixture(scope="module")
def conn(module_database_urls: Urls) -> Iterator[Conn]:
    with Conn.connect(module_database_urls.owner, autocommit=True, row_factory=dict_row) as connection:
        yield connection


@pytest.fixture
def tx(conn: Conn) -> Iterator[Conn]:
    with conn.transaction(force_rollback=True):
        yield conn
