import type { Schema } from '../../api/client'

export type Service = Schema['ServiceResponse']
export type ServiceAction = Service['actions'][number]

interface Consequence {
  /** What ends when the service stops. */
  ends?: string
  /** What users notice while it does not run. */
  without: string
}

const CONSEQUENCES: Readonly<Record<string, Consequence>> = {
  redis: { without: 'The spam filter works without its statistics.' },
  rspamd: { without: 'Incoming mail waits at the sending servers, and no mail can be sent.' },
  dovecot: {
    ends: 'IMAP, POP3 and ManageSieve sessions end.',
    without: 'Mail programs can’t sign in, and incoming mail waits in the queue.',
  },
  postfix: { ends: 'SMTP sessions end.', without: 'Mail is neither received nor delivered. Other servers try again.' },
  prefork: { ends: 'All of Mailkeep’s own processes are started again.', without: 'This dashboard does not answer.' },
  api: { without: 'The API and this dashboard do not answer.' },
  node: { without: 'The queue and the services can’t be seen or changed.' },
  worker: { without: 'Webhooks wait.' },
  lmtp: { without: 'Incoming mail waits in the queue.' },
  logs: { without: 'The history shows delivery outcomes later.' },
  policy: { without: 'Mail programs and other servers are asked to try again later.' },
  relay: { without: 'Mail for relays waits in the queue.' },
  reinjection: { without: 'Forwards and replies of Sieve scripts wait.' },
  sendmail: { without: 'Programs on this machine can’t send with the sendmail command.' },
  keys: { without: 'Outgoing mail waits, because it can’t be signed.' },
  usage: { without: 'The shown mailbox usage and last logins may be out of date.' },
}

const RELOADS: Readonly<Record<string, string>> = {
  postfix: 'Deliveries that are under way are tried again.',
  dovecot: 'New sessions use the new configuration.',
  rspamd: 'New mail is checked with the new configuration.',
}

/** What users notice of an action. */
export function describeConsequence(service: string, action: ServiceAction): string {
  const { ends = '', without } = CONSEQUENCES[service] ?? { without: 'What this service does is not available.' }
  switch (action) {
    case 'start':
      return 'Users notice only that it works again.'
    case 'stop':
      return [ends, without, 'This lasts until the service is started again, or until the next start of Mailkeep.']
        .filter(Boolean)
        .join(' ')
    case 'restart':
      return [ends, without, 'This lasts a few seconds.'].filter(Boolean).join(' ')
    case 'reload':
      return RELOADS[service] ?? 'It reads its configuration again.'
  }
}

/** The actions that make sense in the present state. */
export function listSensibleActions({ actions, state }: Pick<Service, 'actions' | 'state'>): ServiceAction[] {
  return actions.filter((action) => (state === 'stopped' ? action !== 'stop' && action !== 'reload' : action !== 'start'))
}

export const ACTION_LABELS: Readonly<Record<ServiceAction, string>> = {
  start: 'Start',
  stop: 'Stop',
  restart: 'Restart',
  reload: 'Reload',
}
