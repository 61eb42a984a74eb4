import type { Schema } from '../../api/client'
import type { Unit } from '../../units'
import { knownZone, OWN_ZONE } from '../../timeZone'
import { FIRST_PASSWORD, firstPasswordBody } from '../invitation/firstPasswordValues'
import { fromRequirement, toRequirement } from './RequireAppPasswords'

type Mailbox = Schema['MailboxRecord']

export const PROTOCOLS = { imap: 'IMAP', pop3: 'POP3', smtp: 'SMTP (sending)', sieve: 'ManageSieve' } as const

/** The values of the fields of a forward. */
export function forwardValues(mailbox: Pick<Mailbox, 'forward'> | undefined) {
  return { forward_to: mailbox?.forward.destinations ?? [], keep_copy: mailbox?.forward.keep_copy ?? true }
}

export function initialValues(mailbox: Mailbox | undefined, domainId: string | undefined, unit: Unit) {
  return {
    local_part: '',
    domain_id: domainId ?? null,
    name: mailbox?.name ?? '',
    ...FIRST_PASSWORD,
    quota: (mailbox ? mailbox.quota_bytes / unit.size : '') as number | string,
    ...forwardValues(mailbox),
    send_as: mailbox?.send_as ?? ([] as string[]),
    time_zone: mailbox?.time_zone ?? knownZone(OWN_ZONE),
    active: mailbox?.active ?? true,
    imap: mailbox?.protocols.imap ?? true,
    pop3: mailbox?.protocols.pop3 ?? true,
    smtp: mailbox?.protocols.smtp ?? true,
    sieve: mailbox?.protocols.sieve ?? true,
    require_app_passwords: toRequirement(mailbox?.require_app_passwords),
  }
}

export type Values = Omit<ReturnType<typeof initialValues>, 'domain_id'> & { domain_id: string | null }

export function patchBody(values: Values, unit: Unit): Schema['MailboxPatch'] {
  return {
    name: values.name,
    active: values.active,
    protocols: { imap: values.imap, pop3: values.pop3, smtp: values.smtp, sieve: values.sieve },
    send_as: values.send_as,
    time_zone: values.time_zone,
    require_app_passwords: fromRequirement(values.require_app_passwords),
    ...(values.password && { password: values.password }),
    ...(values.quota !== '' && { quota_bytes: Math.round(Number(values.quota) * unit.size) }),
  }
}

export function createBody(values: Values, unit: Unit): Schema['MailboxCreate'] {
  return {
    ...patchBody({ ...values, password: '' }, unit),
    ...firstPasswordBody(values),
    local_part: values.local_part.trim(),
    domain_id: values.domain_id ?? '',
    forward: { destinations: values.forward_to, keep_copy: values.keep_copy },
    name: values.name,
    active: values.active,
  }
}
