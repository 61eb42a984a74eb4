"""Parses DMARC aggregate reports: RFC 7489 appendix C, with or without the namespace of RFC 9990.

Optional elements that reporters leave out get defaults. What would falsify counts is refused: addresses, counts, dates,
and a From domain outside the domain that the report is about.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers.expat import ExpatError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, ParseError

from mailkeep.mail.reports import values
from mailkeep.mail.reports.model import (
    Disposition,
    DkimResult,
    DmarcPolicy,
    DmarcReport,
    DmarcRow,
    InvalidReport,
    SpfCheck,
)

MAX_RECORDS = 100_000
_MAX_DEPTH = 12
_MAX_CHILDREN = 200  # of an element; records are not kept
_MAX_TEXT = 4096
_MAX_RESULTS = 20  # signatures, and reasons, of a record
_MAX_NAME = 255
_PIECE = 256 << 10


@dataclass(slots=True)
class _Element:
    name: str
    children: list[_Element] = field(default_factory=list["_Element"])
    texts: list[str] = field(default_factory=list[str])
    length: int = 0

    def text(self, path: str) -> str:
        """The text of the first element below this one with these names, or empty."""
        found = self.find(path)
        return "".join(found.texts).strip() if found else ""

    def find(self, path: str) -> _Element | None:
        found: _Element | None = self
        for name in path.split("/"):
            found = next((child for child in found.children if child.name == name), None) if found else None
        return found

    def all(self, name: str) -> list[_Element]:
        return [child for child in self.children if child.name == name]


class _Target:
    """Receives the parser's events. Keeps one record at a time."""

    def __init__(self) -> None:
        self.rows: dict[tuple[object, ...], int] = {}
        self.root: _Element | None = None
        self._open: list[_Element] = []
        self._records = 0
        self.from_domains: set[str] = set()

    def start(self, tag: str, attributes: object) -> None:
        element = _Element(tag.rpartition("}")[2])
        if not self._open and (self.root is not None or element.name != "feedback"):
            raise InvalidReport("The XML is no DMARC report: its root element is not feedback")
        if len(self._open) >= _MAX_DEPTH:
            raise InvalidReport(f"The XML is nested deeper than {_MAX_DEPTH} levels")
        self._open.append(element)
        self.root = self.root or element

    def data(self, text: str) -> None:
        element = self._open[-1]
        element.length += len(text)
        if element.length > _MAX_TEXT and text.strip():
            raise InvalidReport(f"The element {element.name[:40]} has more than {_MAX_TEXT} characters")
        element.texts.append(text)

    def end(self, tag: str) -> None:
        element = self._open.pop()
        if not self._open:
            return
        parent = self._open[-1]
        if parent is self.root and element.name == "record":
            self._add_record(element)
            parent.texts.clear()
            parent.length = 0
            return
        if len(parent.children) >= _MAX_CHILDREN:
            raise InvalidReport(f"The element {parent.name[:40]} has more than {_MAX_CHILDREN} elements")
        parent.children.append(element)

    def _add_record(self, element: _Element) -> None:
        self._records += 1
        if self._records > MAX_RECORDS:
            raise InvalidReport(f"The report has more than {MAX_RECORDS} records")
        key, messages = _read_record(element, f"record {self._records}")
        self.from_domains.add(str(key[4]))
        self.rows[key] = self.rows.get(key, 0) + messages

    def close(self) -> None:
        """Called at the end of the document."""


def parse_dmarc(content: bytes) -> DmarcReport:
    """Parse an XML document. InvalidReport."""
    target = _Target()
    try:
        parser = DefusedXMLParser(target=target, forbid_dtd=True)
        for start in range(0, len(content), _PIECE):
            parser.feed(content[start : start + _PIECE])
        parser.close()
    except DefusedXmlException:
        raise InvalidReport("The XML has a DTD, an entity or an external reference") from None
    except (ParseError, ExpatError, ValueError, LookupError) as error:
        if isinstance(error, InvalidReport):
            raise
        raise InvalidReport("The XML is not well-formed") from None
    assert target.root is not None
    return _report(target, target.root)


def _report(target: _Target, root: _Element) -> DmarcReport:
    policies = root.all("policy_published")
    if len(policies) != 1:
        raise InvalidReport("The report must be about exactly one domain (policy_published)")
    domain = values.domain(policies[0].text("domain"), "The domain of policy_published")
    for name in sorted(target.from_domains - {""}):
        if name != domain and not name.endswith(f".{domain}"):
            raise InvalidReport(f"The report is about {domain}, but has a record for another domain")
    organisation = values.text(root.text("report_metadata/org_name"), _MAX_NAME)
    report_id = values.text(root.text("report_metadata/report_id"), _MAX_NAME)
    if not organisation or not report_id:
        raise InvalidReport("The report has no org_name or no report_id")
    begin, end = values.period(
        root.text("report_metadata/date_range/begin"), root.text("report_metadata/date_range/end")
    )
    return DmarcReport(
        domain=domain,
        organisation=organisation,
        report_id=report_id,
        contact=values.text(root.text("report_metadata/email"), _MAX_NAME),
        begin=begin,
        end=end,
        policy=_policy(policies[0]),
        rows=[_row(key, messages, domain) for key, messages in target.rows.items()],
    )


def _policy(element: _Element) -> DmarcPolicy:
    percent = element.text("pct")
    subdomains = element.text("sp")
    return DmarcPolicy(
        _disposition(element.text("p") or "none", "The policy p"),
        _disposition(subdomains, "The policy sp") if subdomains else "",
        min(values.number(percent, "The percentage pct"), 100) if percent else 100,
    )


def _read_record(element: _Element, where: str) -> tuple[tuple[object, ...], int]:
    """The values of a record, and its number of messages."""
    messages = values.number(element.text("row/count"), f"The count of {where}")
    evaluated = element.find("row/policy_evaluated") or _Element("policy_evaluated")
    header_from = element.text("identifiers/header_from")
    results = element.find("auth_results") or _Element("auth_results")
    key = (
        values.ip_address(element.text("row/source_ip"), f"The source_ip of {where}"),
        _disposition(evaluated.text("disposition") or "none", f"The disposition of {where}"),
        evaluated.text("dkim").lower() == "pass",
        evaluated.text("spf").lower() == "pass",
        values.domain(header_from, f"The header_from of {where}") if header_from else "",
        tuple(dict.fromkeys(_keyword(each.text("type")) for each in evaluated.all("reason")[:_MAX_RESULTS])),
        tuple(
            DkimResult(_name(each.text("domain")), _name(each.text("selector")), _keyword(each.text("result")))
            for each in results.all("dkim")[:_MAX_RESULTS]
        ),
        tuple(
            SpfCheck(_name(each.text("domain")), _keyword(each.text("result")))
            for each in results.all("spf")[:_MAX_RESULTS]
        ),
    )
    return key, messages


def _row(key: tuple[object, ...], messages: int, domain: str) -> DmarcRow:
    source_ip, disposition, dkim, spf, header_from, reasons, signatures, spf_checks = key
    return DmarcRow(source_ip, messages, disposition, dkim, spf, header_from or domain, reasons, signatures, spf_checks)  # pyright: ignore[reportArgumentType] as _read_record returns them


def _disposition(value: str, where: str) -> Disposition:
    found = value.lower()
    if found == "pass":  # RFC 9990: the message passed DMARC
        return "none"
    if found not in ("none", "quarantine", "reject"):
        raise InvalidReport(f"{where} is not none, quarantine or reject")
    return found


def _name(value: str) -> str:
    return values.text(value, 253).lower().removesuffix(".")


def _keyword(value: str) -> str:
    return values.text(value, 40).lower()
