"""The supervisor is killed (-9) while an apply is undone, `node` while one waits for its confirmation: the old
configuration is in use, complete, and no mail is lost or doubled (every step, both: `make prove-apply`).
"""

from __future__ import annotations

import pytest

from tests.crash.applies import applies


@pytest.mark.root
@pytest.mark.timeout(400)
async def test_an_apply_that_is_killed_or_not_confirmed_leaves_one_complete_configuration() -> None:
    async with applies() as found:
        assert await found.round("after a failure, Rspamd's link is restored", "supervisor") == "rolled_back"
        assert await found.change_port("kill") == "rolled_back"
