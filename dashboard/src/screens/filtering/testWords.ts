import type { TestResult } from '../../api/filteringRequests'
import type { Tone } from '../../ui/Badge'

export const ACTIONS: Readonly<Record<TestResult['action'], { title: string; tone: Tone }>> = {
  inbox: { title: 'inbox', tone: 'good' },
  junk: { title: 'Junk', tone: 'warn' },
  refuse: { title: 'refused', tone: 'bad' },
  defer: { title: 'deferred', tone: 'warn' },
}

/** When the decision is made. */
export const PHASES: Readonly<Record<TestResult['at'], string>> = {
  rcpt: 'Decided before its content is received (at RCPT).',
  data: 'Decided when its content has been received (at the end of DATA).',
  delivery: 'Decided when it is delivered to the mailbox.',
}

/** Results of sender authentication (RFC 8601 §2.7). */
export const AUTH_RESULTS = ['pass', 'fail', 'softfail', 'neutral', 'none', 'temperror', 'permerror'] as const
