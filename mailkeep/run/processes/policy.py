"""The process `policy`: serves Postfix's policy requests and sender tables (`features/mailflow/policy`)."""

from __future__ import annotations

import asyncio
import grp

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.features.mailflow.policy.service import PolicyServer, sender_tables
from mailkeep.mail.postfix.policy import serve_policy
from mailkeep.mail.postfix.socketmap import serve_tables
from mailkeep.run.runtime.process import Process

log = structlog.get_logger("mailkeep.policy")

AWAY = "451 4.3.0 Temporary fault on our side, try again later"
_ENDED = "421 4.7.0 The account has changed: log in again"
_DISABLED = "550 5.7.1 Sending is disabled for this domain"
_DEACTIVATED = "450 4.2.1 The domain is deactivated for now"
_NO_SENDER = "553 5.1.7 The sender is no address of ours"
_FORWARDS_TOO_MUCH = "450 4.7.1 The domain forwards too much mail at present, try again later"
_OUTSIDE = Route("deliver", (), 1)
_SENDER_FIELD = "X-Mailkeep-Sender"
_NOT_REWRITTEN = "550 5.1.1 User unknown"
_PROCESSES = 10_000  # of Postfix: far more than run at a time; what those that ended have left is let go


@dataclass(slots=True)
class _Transaction:
    """A message that is being handed in: the recipients that Postfix has asked about, and the routes of those that have
    copies for the outside, or of which the size matters.
    """

    instance: str
    recipients: list[str] = field(default_factory=list[str])
    routes: dict[str, Route] = field(default_factory=dict[str, Route])


class Policy:
    """Decides; remembers the recipients that it was shown of each transaction."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._rewriter = srs.rewriter(app.vault, app.settings)
        self._transactions: OrderedDict[str, _Transaction] = OrderedDict()

    async def answer(self, request: Mapping[str, str]) -> str:
        """The action for a request; with the database away the client is to come again."""
        try:
            return await self._answer(request)
        except Unavailable:
            log.warning("a submission is put off: the database is away")
        except Exception:
            log.exception("a submission is put off")
        return AWAY

    async def _answer(self, request: Mapping[str, str]) -> str:
        instance, context = request.get("instance", ""), request.get("policy_context", "")
        # On the port for other servers it ends with the mark of the field that tells the sender to go on with.
        context, _, mark = context.partition("/")
        match request.get("protocol_state"):
            case "RCPT" if context == "expanding":
                return await self._check_recipient(request, mark)
            case "RCPT" if context == "redirect":
                return await self._check_redirect(request)
            case "RCPT":
                shown, recipient = self._transaction(instance).recipients, request.get("recipient", "")
                if not shown and not await self._may_submit(request):
                    return _ENDED
                if recipient and recipient not in shown:
                    shown.append(recipient)
                return DUNNO
            case "END-OF-MESSAGE":
                return await self._end(request, self._end_transaction(instance), context)
            case _:
                return DUNNO

    async def _end(self, request: Mapping[str, str], transaction: _Transaction, context: str) -> str:
        """The end of a message. The sender is counted last: what is refused for its copies does not count."""
        routes = transaction.routes
        action = await self._charge(request, routes) if routes else DUNNO
        if action != DUNNO or context in ("inbound", "redirect"):
            return action
        action = await self._check_sender(request, transaction.recipients)
        if action != DUNNO and routes:
            async with self._app.db.autocommit() as conn:
                await abuse.uncount_forwards(conn, [request.get("queue_id", "")])
        return action

    async def _may_submit(self, request: Mapping[str, str]) -> bool:
        login = parse_login(request.get("sasl_username", ""))
        async with self._app.db.autocommit() as conn:
            return await mailbox_sessions.may_submit(conn, login.address, login.version)

    async def _check_recipient(self, request: Mapping[str, str], mark: str = "") -> str:
        """A recipient with copies for the outside, or of mailboxes with a small quota: whether it is accepted."""
        address = request.get("recipient", "")
        if mark and self._rewriter.restore(address, self._app.clock()):
            return self._prepend_sender(request, mark)
        routes = self._transaction(request.get("instance", "")).routes
        reply, route = await receiving.check_recipient(
            self._app, address, _number(request.get("size")), self._copies(routes)
        )
        if not reply.is_positive:
            return f"{reply.code} {reply.enhanced} {reply.text}"
        if route.external or route.depends_on_size:
            told = any(each.external for each in routes.values())
            routes[address] = route
            if mark and route.external and not told:
                return self._prepend_sender(request, mark)
        return DUNNO

    def _prepend_sender(self, request: Mapping[str, str], mark: str) -> str:
        """Tell the filter the sender that the message goes on with, where that is another one."""
        rewritten = self._rewriter.rewrite(request.get("sender", ""), self._app.clock())
        if rewritten is None:
            return DUNNO
        return f"PREPEND {_SENDER_FIELD}: {mark} {b64encode(rewritten.encode()).decode()}"

    async def _check_redirect(self, request: Mapping[str, str]) -> str:
        """A recipient of mail that Sieve redirects: outside it counts for the mailbox's domain. Replies and rejections
        have no sender, and are no copies; redirected mail without a sender is counted by `run/processes/reinjection`.
        """
        address, sender = request.get("recipient", ""), _sender(request.get("sender", ""), "")
        async with self._app.db.autocommit() as conn:
            route = await routing.route(conn, address)
        if route.decision == "deliver":
            return await self._check_recipient(request) if route.external else DUNNO
        if sender is None or route.decision != "not_managed":
            return DUNNO
        routes, limit = self._transaction(request.get("instance", "")).routes, self._app.settings.abuse.forward_per_hour
        # Kept under an address of the mailbox's domain, which forwards it.
        key = f"{address}@{sender.domain}"
        copies = self._copies({**routes, key: _OUTSIDE}).get(sender.domain, 1)
        async with self._app.db.autocommit() as conn:
            if not await abuse.may_forward(conn, self._app.clock(), sender.domain, copies, limit):
                return _FORWARDS_TOO_MUCH
        routes[key] = _OUTSIDE
        return DUNNO

    def _transaction(self, instance: str) -> _Transaction:
        """What is known of a transaction. A process of Postfix has one at a time: a new one ends the one before."""
        process = instance.partition(".")[0]
        known = self._transactions.get(process)
        if known is None or known.instance != instance:
            known = self._transactions[process] = _Transaction(instance)
        self._transactions.move_to_end(process)
        if len(self._transactions) > _PROCESSES:
            self._transactions.popitem(last=False)
        return known

    def _end_transaction(self, instance: str) -> _Transaction:
        known = self._transaction(instance)
        del self._transactions[instance.partition(".")[0]]
        return known

    def _copies(self, routes: Mapping[str, Route]) -> dict[str, int]:
        copies: dict[str, int] = {}
        for address, route in routes.items():
            if route.external:
                domain = receiving.forwarding_domain(self._app, address)
                copies[domain] = copies.get(domain, 0) + route.external
        return copies

    async def _charge(self, request: Mapping[str, str], routes: Mapping[str, Route]) -> str:
        """At the end of the message: its size is known now, and its copies are counted."""
        size = _number(request.get("size"))
        sized = [address for address, route in routes.items() if route.depends_on_size]
        if sized and str(len(sized)) == request.get("recipient_count"):
            replies = [(await receiving.check_recipient(self._app, address, size))[0] for address in sized]
            if not any(reply.is_positive for reply in replies):
                return f"{replies[0].code} {replies[0].enhanced} {replies[0].text}"
        copies = self._copies(routes)
        if not copies:
            return DUNNO
        charge_id = request.get("queue_id") or None
        refusal = await abuse.charge_forwards(self._app, self._app.clock(), charge_id, copies)
        return DUNNO if refusal is None else refusal_action(refusal)

    async def _check_sender(self, request: Mapping[str, str], shown: list[str]) -> str:
        app, at = self._app, self._app.clock()
        if not await self._may_submit(request):
            return _ENDED
        login, client = parse_login(request.get("sasl_username", "")).address, request.get("client_address", "")
        sender = _sender(request.get("sender", ""), login)
        if sender is None:
            return _NO_SENDER
        # Tags and aliases are as many as one likes: what is counted, and suspended, is the mailbox that logged in.
        mailbox = _sender(login, "") or sender
        async with app.db.autocommit() as conn:
            domain = await domains.find_by_name(conn, sender.domain)
            home = domain if mailbox.domain == sender.domain else await domains.find_by_name(conn, mailbox.domain)
        if domain is None or home is None:
            return _NO_SENDER
        if not domain.active:
            return _DEACTIVATED
        if not domain.sending_enabled:
            return _DISABLED
        single = request.get("recipient", "")
        recipients = shown or ([single] if single else [])
        told = request.get("recipient_count", "")
        count = max(int(told) if told.isascii() and told.isdigit() and len(told) < 9 else 0, len(recipients), 1)
        who = Principal(None, login or sender.text, Role.DOMAIN_ADMIN, ActorType.SYSTEM, ip_address=client or None)
        (refusal,) = await abuse.count(app, who, at, [SendCharge(mailbox, home.id, count, written=sender)])
        if refusal:
            return refusal_action(refusal)
        await self._note(request, login, recipients, client, at)
        return DUNNO

    async def _note(
        self, request: Mapping[str, str], login: str, recipients: list[str], client: str, at: datetime
    ) -> None:
        """The envelope, where it is whole: of one that is not, the log's lines tell the recipients. By it the count is
        taken back where the filter refuses the message.
        """
        queue_id = request.get("queue_id", "")
        if queue_id and recipients and str(len(recipients)) == request.get("recipient_count"):
            noted = SubmissionEnvelope(queue_id, login, request.get("sender", ""), recipients, client, at)
            await fates.record_envelope(self._app, noted)


def refusal_action(refusal: Refusal) -> str:
    """What a client is answered: for good where the same message will never go out, else to come again."""
    too_large = (
        isinstance(refusal, RateLimitExceeded) and (refusal.details or {}).get("reason") == "message_above_threshold"
    )
    permanent = too_large or isinstance(refusal, MailboxSuspended)
    return f"{'550 5.7.1' if permanent else '450 4.7.1'} {refusal.message}"


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 16 else 0


def _sender(mail_from: str, login: str) -> Address | None:
    """Whose mail it is: the null sender's is the login's."""
    for text in (mail_from, login):
        try:
            return parse_address(text)
        except AddressError:
            continue
    return None


def tables(app: App) -> dict[str, Table]:
    """What Postfix asks about rewritten senders (SRS), as bounces come back to them."""
    rewriter = srs.rewriter(app.vault, app.settings)

    def original(address: str) -> str | None:
        return rewriter.restore(address, app.clock())

    def access(address: str) -> str:
        return "OK" if original(address) else _NOT_REWRITTEN

    def passed_back(address: str) -> str:
        return "expanding, permit" if original(address) else _NOT_REWRITTEN

    return {"original": original, "access": access, "passed_back": passed_back}


async def serve(app: App, process: Process) -> None:
    """Answer until asked to stop."""
    try:
        group, paths = grp.getgrnam("postfix").gr_gid, process.paths
        servers = (
            await serve_policy(paths.policy_socket, PolicyServer(app).answer, mode=0o660, group=group),
            await serve_tables(paths.senders_socket, sender_tables(app), mode=0o660, group=group),
        )
    except (OSError, KeyError) as error:
        raise Failure(f"The process policy can't listen: {error}", permanent=True) from error
    process.report_ready()
    await process.stop_requested.wait()
    for server in servers:
        server.close()
    await asyncio.sleep(0.2)  # time for answers in progress
