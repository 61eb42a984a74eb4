import type { Schema } from '../../api/client'
import type { Tone } from '../../ui/Badge'
import { pluralize } from '../../units'

export type DnsRecord = Schema['DnsRecordResult']
export type CheckStatus = Schema['DomainDnsReport']['status']
export type Progress = Schema['CheckProgress']
type Published = Pick<DnsRecord, 'type' | 'value'>

/** What each record is for, as a heading. */
export const PURPOSES: Readonly<Record<DnsRecord['purpose'], string>> = {
  mx: 'Incoming mail (MX)',
  spf: 'Allowed senders (SPF)',
  dkim: 'Signature key (DKIM)',
  dmarc: 'Policy for forged mail (DMARC)',
  mta_sts: 'Encrypted delivery (MTA-STS)',
  mta_sts_host: 'Host of the MTA-STS policy',
  tls_rpt: 'Encryption reports (TLS-RPT)',
  autoconfig: 'Setup of Thunderbird (autoconfig)',
  autodiscover: 'Setup of Outlook (autodiscover)',
  srv: 'Service for mail clients (SRV)',
  address: 'Address of the server',
  ptr: 'Reverse DNS (PTR)',
  report_authorization: 'Reports about other domains (DMARC)',
  caa: 'Certificate authorities (CAA)',
  dnssec: 'Signed zone (DNSSEC)',
  tlsa: 'Certificate in DNS (DANE)',
}

const STATUS_TEXTS: Readonly<Record<DnsRecord['status'], string>> = {
  ok: 'ok',
  missing: 'missing',
  mismatch: 'differs',
  multiple: 'more than one',
  dns_error: 'no answer',
  not_checked: 'not checked',
}

/** The status of a record in words. */
export function describeStatus({ status, required, purpose }: Pick<DnsRecord, 'status' | 'required' | 'purpose'>): {
  text: string
  tone: Tone
} {
  return { text: STATUS_TEXTS[status], tone: toneOf(status, required, purpose) }
}

function toneOf(status: DnsRecord['status'], required: boolean, purpose: DnsRecord['purpose']): Tone {
  if (status === 'ok') return 'good'
  if (status === 'not_checked') return 'calm'
  if (status === 'dns_error') return 'warn'
  if (required) return 'bad'
  return status === 'missing' && purpose !== 'dkim' ? 'calm' : 'warn'
}

/**
 * Whether a record shows its details at once: something is to be done about it, or it was never checked. A key that is to
 * sign needs its record, although mail does not suffer without it yet.
 */
export function isOpenAtFirst(record: Pick<DnsRecord, 'status' | 'required' | 'advice' | 'purpose'>): boolean {
  const { status, advice } = record
  if (status === 'ok') return advice !== null
  if (status === 'mismatch' || status === 'multiple') return true
  return (record.required || record.purpose === 'dkim') && status !== 'dns_error'
}

/** Whether a record is not as it should be. No answer says nothing about it. */
export function isWrong({ status }: Pick<DnsRecord, 'status'>): boolean {
  return status === 'missing' || status === 'mismatch' || status === 'multiple'
}

/** The value in the parts for which the forms of DNS providers have separate fields. */
export function splitValue({ type, value }: Published): readonly (readonly [string, string])[] {
  const words = value?.split(' ') ?? []
  if (type === 'MX' && words.length === 2) return name(['Priority', 'Mail server'], words)
  if (type === 'SRV' && words.length === 4) return name(['Priority', 'Weight', 'Port', 'Target'], words)
  return value === null ? [] : [['Value', value]]
}

function name(names: readonly string[], words: readonly string[]) {
  return words.map((word, index) => [names[index] ?? '', word] as const)
}

/** What a check found, in a sentence. */
export function summarize(status: CheckStatus, records: readonly Pick<DnsRecord, 'status' | 'required' | 'advice' | 'purpose'>[]): string {
  const required = records.filter((each) => each.required)
  const wrong = required.filter(isWrong).length
  const advised = records.filter((each) => isOpenAtFirst(each) && each.status !== 'not_checked').length
  switch (status) {
    case 'unchecked':
      return 'These records have not been checked yet.'
    case 'ok':
      return 'All required records are right.'
    case 'attention':
      return advised ? `Mail works. ${pluralize(advised, 'record')} can be improved.` : 'Mail works, but something can be improved.'
    case 'failing':
      return wrong
        ? `${pluralize(wrong, 'required record')} of ${required.length} ${wrong === 1 ? 'is' : 'are'} missing or wrong. Mail may be lost or refused.`
        : 'A required record was missing or wrong at the last check.'
  }
}

/** What to do about a record. The record itself is shown beside it. */
export function describeAdvice({ status, value, advice }: Pick<DnsRecord, 'status' | 'value' | 'advice'>): string | null {
  return status === 'missing' && value && advice?.includes(value) ? 'Add this record:' : advice
}

const PATIENCE_MS = 60_000

/** What a requested check is doing; empty if there is none. */
export function describeProgress({ state, requested_at }: Progress, now: number): string {
  if (state === 'idle') return ''
  if (state === 'running') return 'Asking the name servers…'
  const waited = requested_at ? now - Date.parse(requested_at) : 0
  return waited < PATIENCE_MS
    ? 'The check begins in a moment…'
    : 'The check still waits. Many checks are due, or no worker runs: see `mailkeep status` on the server.'
}
