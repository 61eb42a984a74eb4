/** The text of each decision with its SMTP reply. */
const DECISIONS: Readonly<Record<string, string>> = {
  deliver: 'is delivered',
  bounce: 'is accepted as a report about sent mail, and not delivered',
  unknown_user: 'is rejected: the address does not exist (550 5.1.1)',
  mailbox_inactive: 'is rejected: the mailbox is inactive (550 5.2.1)',
  receiving_disabled: 'is rejected: receiving is disabled for the domain (550 5.7.1)',
  domain_inactive: 'is deferred: a domain on its route is inactive (450)',
  no_administrator: 'is deferred: no administrator has an address that receives mail (451 4.3.5)',
  expansion_limit: 'is rejected: the address has too many external destinations (550 5.7.1)',
  too_many_destinations: 'is rejected: the address has too many destinations (550 5.7.1)',
  not_managed: 'is rejected: the domain is not hosted here (554 5.7.1)',
}

const STEPS: Readonly<Record<string, string>> = {
  bounce: 'Bounce address',
  domain_alias: 'Alias domain',
  domain: 'Domain',
  mailbox: 'Mailbox',
  alias: 'Alias',
  plus: 'Address without the tag',
  catch_all: 'Catch-all',
  forward: 'Forwarding',
  postmaster: 'Administrators (postmaster and abuse)',
  report: 'Reports of other servers',
  reject: 'Not delivered',
}

/** The results of the steps that are not clear by themselves. */
const RESULTS: Readonly<Record<string, string>> = {
  managed: 'hosted here',
  not_managed: 'not hosted here',
  server: "this server's host name",
  stripped: 'tag removed',
  no_copy: 'no copy kept',
  domain_inactive: 'domain inactive',
  receiving_disabled: 'receiving disabled for the domain',
  no_administrator: 'no administrator receives mail',
  expansion_limit: 'too many external destinations',
  unknown_user: 'address does not exist',
}

const ROW_LABELS: Readonly<Record<string, string>> = { id: 'ID', name: 'domain', address: 'address', destinations: 'destinations' }

/** What happens with mail, to follow “Mail for ADDRESS”. */
export function describeDecision(decision: string): string {
  return DECISIONS[decision] ?? decision.replaceAll('_', ' ')
}

export function describeStep(step: string): string {
  return STEPS[step] ?? step.replaceAll('_', ' ')
}

export function describeResult(result: string): string {
  return RESULTS[result] ?? result.replaceAll('_', ' ')
}

/** The record that matched in a step. */
export function describeRow(row: Readonly<Record<string, unknown>>): string {
  return Object.entries(row)
    .map(([name, value]) => `${ROW_LABELS[name] ?? name} ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join(' · ')
}
