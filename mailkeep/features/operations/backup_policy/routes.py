"""Routes of the policy of backups."""

from __future__ import annotations

from msgspec import UNSET

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Forbidden, InvalidCredentials
from mailkeep.features.operations.backup_policy import service, wire
from mailkeep.features.operations.backup_policy.service import BackupPolicy
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse

_TAG = "Backups"
_PATH = "/backups/policy"
_PASSWORD = {"current_password": "correct horse battery staple"}


async def _get(app: App, call: Call) -> HttpResponse:
    return _respond(await service.get(app))


async def _change(app: App, call: Call) -> HttpResponse:
    body: wire.BackupPolicyPatch = call.body
    password = None if body.current_password is UNSET else body.current_password
    await call.require_recent_sign_in(app.clock(), password, "config.update")
    return _respond(await service.change(app, call.caller(), wire.read_changes(body), call.if_match))


def _respond(policy: BackupPolicy) -> HttpResponse:
    return HttpResponse(wire.to_policy(policy), headers={"etag": policy.tag})


ENDPOINTS = (
    Endpoint(
        method="GET",
        path=_PATH,
        handler=_get,
        action="backup.read",
        summary="Get the policy of backups",
        description="`ETag` is the number of the newest revision of the settings.",
        tag=_TAG,
        versioned=True,
        data=wire.BackupPolicyRecord,
        refusals=(ApiKeyDomainScope,),
        examples=(Example(),),
    ),
    Endpoint(
        method="PATCH",
        path=_PATH,
        handler=_change,
        action="backup.write",
        summary="Change the policy of backups",
        description=(
            "Adds a revision of the settings `backup.*` (PATCH /config, which also has the credentials of the "
            "repository). INVALID_FIELD if the file or the environment sets a value. It needs a session of the last 10 "
            "minutes, or `current_password`; otherwise, and with an API key, FORBIDDEN `recent_sign_in_required`."
        ),
        tag=_TAG,
        versioned=True,
        body=wire.BackupPolicyPatch,
        data=wire.BackupPolicyRecord,
        audit="config.update",
        resource="config",
        refusals=(InvalidCredentials, Forbidden, ApiKeyDomainScope),
        examples=(Example(body={"schedule": "daily", "start_time": "03:15", "retention": {"daily": 14}} | _PASSWORD),),
    ),
)
