"""The answers to Postfix's policy requests and to its lookups of rewritten senders."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Refusal, Unavailable
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.access.key_sessions import service as key_sessions
from mailkeep.features.access.key_sessions.model import KeySession
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.mailbox_sessions import service as mailbox_sessions
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.directory.routing.model import Route
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.delivery_status import service as delivery_status
from mailkeep.features.mailflow.delivery_status.model import SubmissionEnvelope
from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.features.mailflow.key_senders import service as key_senders
from mailkeep.features.mailflow.key_senders.rules import KEY_ENDED, NO_SENDER
from mailkeep.features.mailflow.policy import rules
from mailkeep.features.mailflow.policy.model import Transaction
from mailkeep.features.mailflow.receiving import service as receiving
from mailkeep.features.mailflow.receiving.rules import DENIED, FORWARDS_TOO_MUCH
from mailkeep.features.mailflow.verdicts import service as verdicts
from mailkeep.mail.message import srs
from mailkeep.mail.postfix.policy import DUNNO, OK
from mailkeep.mail.postfix.socketmap import Table
from mailkeep.mail.postfix.submission_login import parse_key_login, parse_login

log = structlog.get_logger("mailkeep.policy")

_MAX_TRANSACTIONS = 10_000  # far above the number of Postfix processes; the least recently used are dropped


class PolicyServer:
    """Answers policy requests. Keeps the transaction of each Postfix process from one request to the next."""

    def __init__(self, app: App, hits: HitCounter) -> None:
        self._app, self._hits = app, hits
        self._rewriter = srs.rewriter(app.vault, app.settings)
        self._transactions: OrderedDict[str, Transaction] = OrderedDict()
        self._key_processes: set[int] | None = None  # recorded in key_sessions; None: not read yet

    async def answer(self, request: Mapping[str, str]) -> str:
        """The action for a request (access(5)); a temporary failure if the database is not available or on an error."""
        try:
            return await self._answer(request)
        except Unavailable:
            log.warning("a message or recipient is deferred: the database is not available")
        except Exception:
            log.exception("a message or recipient is deferred: its policy request failed")
        return rules.UNAVAILABLE

    async def _check_deny_entries(self, request: Mapping[str, str]) -> str:
        """The action for a recipient with deny entries; DUNNO if that fails: they are checked again at the end."""
        recipient, sender = request.get("recipient", ""), request.get("sender", "")
        try:
            refuses = await verdicts.refuses_recipient(
                self._app, self._hits, recipient, sender, request.get("client_address", "")
            )
        except Unavailable:
            return DUNNO
        except Exception:
            log.exception("the deny entries of a recipient could not be checked")
            return DUNNO
        return str(DENIED) if refuses else DUNNO

    async def _answer(self, request: Mapping[str, str]) -> str:
        instance, context = request.get("instance", ""), request.get("policy_context", "")
        # On port 25 the context ends with a secret. Rspamd trusts the field with the rewritten sender only with it.
        context, _, secret = context.partition("/")
        match request.get("protocol_state"):
            case "RCPT" if context == "denying":
                return await self._check_deny_entries(request)
            case "RCPT" if context == "expanding":
                return await self._check_recipient(request, secret)
            case "RCPT" if context == "redirect":
                return await self._check_redirect(request)
            case "RCPT" if (key_id := parse_key_login(request.get("sasl_username", ""))) is not None:
                return await self._check_key_recipient(request, key_id)
            case "RCPT":
                recipients, recipient = self._transaction(instance).recipients, request.get("recipient", "")
                if not recipients and not await self._may_submit(request):
                    return rules.ACCESS_LOST
                if recipient and recipient not in recipients:
                    recipients.append(recipient)
                return DUNNO
            case "END-OF-MESSAGE":
                return await self._end_message(request, self._end_transaction(instance), context)
            case _:
                return DUNNO

    async def _end_message(self, request: Mapping[str, str], transaction: Transaction, context: str) -> str:
        """The action for a message. Copies are counted first: a message refused for its copies does not count for the
        sender.
        """
        routes = transaction.routes
        action = await self._charge_copies(request, routes) if routes else DUNNO
        if action != DUNNO or context in ("inbound", "redirect"):
            return action
        action = await self._check_submission(request, transaction.recipients)
        if action != DUNNO and routes:
            async with self._app.db.autocommit() as conn:
                await abuse.uncount_forwards(conn, [request.get("queue_id", "")])
        return action

    async def _may_submit(self, request: Mapping[str, str]) -> bool:
        login, process = parse_login(request.get("sasl_username", "")), rules.process_of(request)
        async with self._app.db.autocommit() as conn:
            if self._key_processes is None:
                self._key_processes = set(await key_sessions.list_pids(conn))
            if process in self._key_processes:  # it serves the session of a mailbox now
                await key_sessions.forget(conn, [process])
                self._key_processes.discard(process)
            return await mailbox_sessions.may_submit(conn, login.address, login.access, self._app.clock())

    async def _check_recipient(self, request: Mapping[str, str], secret: str = "") -> str:
        """The action for a recipient whose route may have external copies or mailboxes that are nearly full.

        `secret`: for the field with the rewritten sender (SRS), "" where senders are not rewritten.
        """
        address = request.get("recipient", "")
        if secret and self._rewriter.restore(address, self._app.clock()):
            return self._pass_on(request, secret)
        routes = self._transaction(request.get("instance", "")).routes
        size = rules.parse_number(request.get("size"))
        reply, route = await receiving.check_recipient(
            self._app, address, size, receiving.count_copies(self._app, routes)
        )
        if not reply.is_positive:
            return str(reply)
        if route.external or route.depends_on_size:
            routes[address] = route
            if secret and route.external:
                return self._pass_on(request, secret)
        return DUNNO

    def _pass_on(self, request: Mapping[str, str], secret: str) -> str:
        """The same for each recipient with external copies: if an answer comes too late, Postfix asks again or refuses
        that recipient. The filter takes the first, which decides which domain seals the message (ARC).
        """
        rewritten = self._rewriter.rewrite(request.get("sender", ""), self._app.clock())
        domain = receiving.forwarding_domain(self._app, request.get("recipient", ""))
        return rules.prepend_sender(secret, rewritten, domain)

    async def _check_redirect(self, request: Mapping[str, str]) -> str:
        """The action for a recipient of mail that Sieve sends. External recipients of redirected mail count as copies.

        Mail with the null sender is not counted here: vacation replies and rejections are not copies, and redirected
        mail with the null sender is counted by `run/processes/reinjection`.
        """
        address, sender = request.get("recipient", ""), rules.parse_sender(request.get("sender", ""), "")
        async with self._app.db.autocommit() as conn:
            route = await routing.route(conn, address)
        if route.decision == "deliver":
            return await self._check_recipient(request) if route.external else DUNNO
        if sender is None or route.decision != "not_managed":
            return DUNNO
        routes = self._transaction(request.get("instance", "")).routes
        # Copies are counted by the domain of each key. Here the sender's domain forwards, so the key is a
        # made-up address in it, with the recipient as its local part.
        key = f"{address}@{sender.domain}"
        copies = receiving.count_copies(self._app, {**routes, key: rules.EXTERNAL}).get(sender.domain, 1)
        async with self._app.db.autocommit() as conn:
            used, limit = await abuse.forward_use(self._app, conn, sender.domain)
            if used + copies > limit:
                return str(FORWARDS_TOO_MUCH)
        routes[key] = rules.EXTERNAL
        return DUNNO

    def _transaction(self, instance: str) -> Transaction:
        """The transaction with this instance. A Postfix process has one at a time: a new one replaces the last."""
        process = instance.partition(".")[0]
        transaction = self._transactions.get(process)
        if transaction is None or transaction.instance != instance:
            transaction = self._transactions[process] = Transaction(instance)
        self._transactions.move_to_end(process)
        if len(self._transactions) > _MAX_TRANSACTIONS:
            self._transactions.popitem(last=False)
        return transaction

    def _end_transaction(self, instance: str) -> Transaction:
        transaction = self._transaction(instance)
        del self._transactions[instance.partition(".")[0]]
        return transaction

    async def _charge_copies(self, request: Mapping[str, str], routes: Mapping[str, Route]) -> str:
        """Check the quotas with the size, which is known now, and count the external copies; returns the action.

        Postfix can refuse only the whole message: it is refused if no recipient has room for it.
        """
        size = rules.parse_number(request.get("size"))
        addresses = [address for address, route in routes.items() if route.depends_on_size]
        if addresses and str(len(addresses)) == request.get("recipient_count"):
            replies = [(await receiving.check_recipient(self._app, address, size))[0] for address in addresses]
            if not any(reply.is_positive for reply in replies):
                return str(replies[0])
        refusal = await receiving.charge_copies(self._app, request.get("queue_id") or None, routes)
        return DUNNO if refusal is None else rules.refusal_action(refusal)

    async def _check_submission(self, request: Mapping[str, str], collected: list[str]) -> str:
        """The action for a submitted message; if it may be sent, it is counted and its envelope stored. `collected`:
        the recipients from RCPT.
        """
        app, at = self._app, self._app.clock()
        key_id = parse_key_login(request.get("sasl_username", ""))
        if key_id is not None:
            # The milter counts it, after it has decided about suppressed recipients and the Idempotency-Key.
            return await self._check_key_sender(request, key_id, count=True) or DUNNO
        if not await self._may_submit(request):
            return rules.ACCESS_LOST
        login, client = parse_login(request.get("sasl_username", "")).address, request.get("client_address", "")
        sender = rules.parse_sender(request.get("sender", ""), login)
        if sender is None:
            return rules.UNKNOWN_SENDER
        # The mailbox that logged in is counted and suspended, since it may use any number of tags and aliases.
        mailbox = rules.parse_sender(login, "") or sender
        async with app.db.autocommit() as conn:
            domain = await domains.find_by_name(conn, sender.domain)
            same_domain = mailbox.domain == sender.domain
            mailbox_domain = domain if same_domain else await domains.find_by_name(conn, mailbox.domain)
        if domain is None or mailbox_domain is None:
            return rules.UNKNOWN_SENDER
        if action := rules.domain_action(domain):
            return action
        recipients = rules.recipients(request, collected)
        count = rules.count_recipients(request, recipients)
        who = Principal(None, login or sender.text, Role.DOMAIN_ADMIN, ActorType.SYSTEM, ip_address=client or None)
        charge = SendCharge(mailbox, mailbox_domain.id, count, written=sender)
        refusal = await self._count(
            request,
            who,
            SubmissionEnvelope(request.get("queue_id", ""), login, request.get("sender", ""), recipients, client, at),
            charge,
        )
        return rules.refusal_action(refusal) if refusal else DUNNO

    async def _check_key_recipient(self, request: Mapping[str, str], key_id: UUID) -> str:
        """The action for a recipient of a message that an API key submits. OK instead of DUNNO: the sender is checked
        here, not by the restrictions for mailboxes that follow.
        """
        recipients, recipient = self._transaction(request.get("instance", "")).recipients, request.get("recipient", "")
        if not recipients:
            if action := await self._check_key_sender(request, key_id, count=False):
                return action
            session = KeySession(
                key_id, request.get("client_address", ""), self._app.clock(), rules.process_of(request)
            )
            async with self._app.db.autocommit() as conn:
                await key_sessions.record(conn, session)
            if self._key_processes is not None:
                self._key_processes.add(session.pid)
        if recipient and recipient not in recipients:
            recipients.append(recipient)
        return OK

    async def _check_key_sender(self, request: Mapping[str, str], key_id: UUID, *, count: bool) -> str | None:
        """The action if the key is not valid, or may not send from the envelope sender; else None. With `count` a
        request of the key is counted.
        """
        try:
            who = await key_senders.find_caller(self._app, key_id, request.get("client_address", ""), count=count)
            if who is None:
                return str(KEY_ENDED)
            sender = rules.parse_sender(request.get("sender", ""), "")
            if sender is None:
                return str(NO_SENDER)
            await key_senders.check_senders(self._app, who, [sender])
        except Unavailable:
            raise
        except Refusal as refusal:
            return str(key_senders.refusal_reply(refusal))
        return None

    async def _count(
        self, request: Mapping[str, str], who: Principal, envelope: SubmissionEnvelope, charge: SendCharge
    ) -> Refusal | None:
        """Count a message, and store its envelope if all recipients are known; otherwise the history takes them from
        Postfix's log.


        The envelope is also needed to uncount the message if it is not accepted in the end, and so that it is counted
        once if Postfix repeats its request.
        """
        if (
            envelope.queue_id
            and envelope.recipients
            and str(len(envelope.recipients)) == request.get("recipient_count")
        ):
            begun = await delivery_status.begin_submission(self._app, who, envelope, charge)
            return begun if isinstance(begun, Refusal) else None
        return (await abuse.count(self._app, who, envelope.created_at, [charge]))[0]


def sender_tables(app: App) -> dict[str, Table]:
    """Postfix's lookup tables for rewritten senders (SRS), to which bounces are addressed, by name (socketmap).

    `original`: the original sender; `access`: OK or 550; `passed_back`: the restrictions for such a recipient, or 550.
    """
    rewriter = srs.rewriter(app.vault, app.settings)

    def original(address: str) -> str | None:
        return rewriter.restore(address, app.clock())

    def access(address: str) -> str:
        return "OK" if original(address) else rules.UNKNOWN_USER

    def bounce_access(address: str) -> str:
        return "expanding, permit" if original(address) else rules.UNKNOWN_USER

    return {"original": original, "access": access, "passed_back": bounce_access}
