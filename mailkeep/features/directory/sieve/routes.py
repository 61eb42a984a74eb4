"""Routes of Sieve scripts."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, NotFound, RateLimitExceeded, Unavailable
from mailkeep.features.directory.sieve import service, wire
from mailkeep.web.areas import OWN_MAILBOX, SIEVE, Area, mailbox_id
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse

_AVAILABILITY = (
    " Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away "
    "if the process `node` does not answer in time."
)
_ISOLATION = (
    " It runs isolated, without network and files. UNAVAILABLE with `details.reason` needs_sievec if Pigeonhole is "
    "not installed, no_isolation if this machine can't isolate it."
)


async def _list(app: App, call: Call) -> HttpResponse:
    mailbox = await service.find_mailbox(app, call.caller(), mailbox_id(call), write=False)
    return HttpResponse([wire.to_listed(each) for each in await service.list_scripts(app, mailbox)])


async def _get(app: App, call: Call) -> HttpResponse:
    mailbox = await service.find_mailbox(app, call.caller(), mailbox_id(call), write=False)
    script = await service.get_script(app, mailbox, call.path["name"])
    return HttpResponse(wire.to_script(script), headers={"etag": script.tag})


async def _put(app: App, call: Call) -> HttpResponse:
    who, name = call.caller(), call.path["name"]
    body: wire.ScriptWrite = call.body
    mailbox = await service.find_mailbox(app, who, mailbox_id(call), write=True)
    result = await service.write_script(app, who, mailbox, name, body.script, call.if_match)
    return HttpResponse(wire.to_write(name, body.script, result), headers={"etag": result.tag or ""})


async def _delete(app: App, call: Call) -> HttpResponse:
    who, name = call.caller(), call.path["name"]
    mailbox = await service.find_mailbox(app, who, mailbox_id(call), write=True)
    await service.delete_script(app, who, mailbox, name, call.if_match)
    return HttpResponse(wire.ScriptDeletion("The script is deleted.", name))


async def _activate(app: App, call: Call) -> HttpResponse:
    who, name = call.caller(), call.path["name"]
    mailbox = await service.find_mailbox(app, who, mailbox_id(call), write=True)
    await service.activate_script(app, who, mailbox, name)
    return HttpResponse(wire.ListedScriptResponse(name, active=True))


async def _deactivate(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    mailbox = await service.find_mailbox(app, who, mailbox_id(call), write=True)
    await service.deactivate_scripts(app, who, mailbox)
    return HttpResponse(wire.ScriptsDeactivation("No script filters new mail any more."))


async def _validate(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_validation(await service.check_script(app, call.caller(), call.body.script)))


async def _test(app: App, call: Call) -> HttpResponse:
    body: wire.ScriptTest = call.body
    return HttpResponse(wire.to_test(await service.test_script(app, call.caller(), body.script, wire.read_test(body))))


_SCRIPT = 'require ["fileinto", "mailbox"];\nfileinto :create "News";\n'
_MESSAGE = "From: news@example.org\nTo: alice@example.test\nList-Id: <news.example.org>\nSubject: Hello\n\nHello.\n"


def _endpoints(area: Area) -> tuple[Endpoint, ...]:
    named = {**area.path, "name": "main"}
    return (
        Endpoint(
            method="GET",
            path=f"{area.prefix}/sieve",
            handler=_list,
            action=area.action("sieve.read"),
            summary="List the Sieve scripts of a mailbox",
            description="By name, at most 32." + _AVAILABILITY,
            tag=area.tag,
            data=list[wire.ListedScriptResponse],
            refusals=(NotFound, ApiKeyDomainScope, Unavailable),
            examples=(Example(path=area.path),),
        ),
        Endpoint(
            method="POST",
            path=f"{area.prefix}/sieve/deactivate",
            handler=_deactivate,
            action=area.action("sieve.write"),
            summary="Deactivate the active Sieve script of a mailbox",
            description="New mail goes to the inbox." + _AVAILABILITY,
            tag=area.tag,
            data=wire.ScriptsDeactivation,
            audit="sieve.deactivate",
            resource="mailbox",
            refusals=(NotFound, ApiKeyDomainScope, Unavailable),
            examples=(Example(path=area.path),),
        ),
        Endpoint(
            method="GET",
            path=f"{area.prefix}/sieve/{{name}}",
            handler=_get,
            action=area.action("sieve.read"),
            summary="Get a Sieve script",
            description="Its ETag is a hash of the text, so that it also changes with ManageSieve." + _AVAILABILITY,
            tag=area.tag,
            versioned=True,
            data=wire.ScriptResponse,
            refusals=(NotFound, ApiKeyDomainScope, Unavailable),
            examples=(Example(path=named),),
        ),
        Endpoint(
            method="PUT",
            path=f"{area.prefix}/sieve/{{name}}",
            handler=_put,
            action=area.action("sieve.write"),
            summary="Create or replace a Sieve script",
            description=(
                "A script that does not compile is not stored: INVALID_FIELD, with the errors and their lines in "
                "`details.errors`. An active script stays active. CONFLICT `limit_reached` at the 33rd script."
                + _AVAILABILITY
            ),
            tag=area.tag,
            versioned=True,
            body=wire.ScriptWrite,
            data=wire.ScriptWriteResponse,
            audit="sieve.update",
            resource="mailbox",
            refusals=(NotFound, ApiKeyDomainScope, Conflict, Unavailable),
            examples=(Example(path=named, body={"script": _SCRIPT}),),
        ),
        Endpoint(
            method="DELETE",
            path=f"{area.prefix}/sieve/{{name}}",
            handler=_delete,
            action=area.action("sieve.write"),
            summary="Delete a Sieve script",
            description="CONFLICT `in_use` if it is active." + _AVAILABILITY,
            tag=area.tag,
            versioned=True,
            data=wire.ScriptDeletion,
            audit="sieve.delete",
            resource="mailbox",
            refusals=(NotFound, ApiKeyDomainScope, Conflict, Unavailable),
            examples=(Example(path=named),),
        ),
        Endpoint(
            method="POST",
            path=f"{area.prefix}/sieve/{{name}}/activate",
            handler=_activate,
            action=area.action("sieve.write"),
            summary="Activate a Sieve script",
            description=(
                "It filters new mail instead of the script that was active. CONFLICT `invalid_script` if another "
                "program wrote it and it does not compile." + _AVAILABILITY
            ),
            tag=area.tag,
            data=wire.ListedScriptResponse,
            audit="sieve.activate",
            resource="mailbox",
            refusals=(NotFound, ApiKeyDomainScope, Conflict, Unavailable),
            examples=(Example(path=named),),
        ),
    )


ENDPOINTS = (
    *_endpoints(SIEVE),
    Endpoint(
        method="POST",
        path="/sieve/validate",
        handler=_validate,
        action="sieve.check",
        summary="Check a Sieve script",
        description=(
            "With Pigeonhole's compiler, and the extensions that scripts of mailboxes may use. Included scripts are "
            "unknown here." + _ISOLATION
        ),
        tag=SIEVE.tag,
        body=wire.ScriptValidate,
        data=wire.ScriptValidation,
        refusals=(RateLimitExceeded, Unavailable),
        examples=(Example(body={"script": _SCRIPT}),),
    ),
    Endpoint(
        method="POST",
        path="/sieve/test",
        handler=_test,
        action="sieve.check",
        summary="Try a Sieve script with a message",
        description=(
            "Returns what the script would do; nothing is stored or sent. A stored message (`message_id`) needs the "
            "permissions of reading its content, and reading inbound mail is recorded in the audit log; owners of "
            "mailboxes send the message itself." + _ISOLATION
        ),
        tag=SIEVE.tag,
        body=wire.ScriptTest,
        data=wire.ScriptTestResponse,
        refusals=(NotFound, ApiKeyDomainScope, RateLimitExceeded, Unavailable),
        examples=(Example(body={"script": _SCRIPT, "message": _MESSAGE}),),
    ),
)
OWN_MAILBOX_ENDPOINTS = _endpoints(OWN_MAILBOX)
