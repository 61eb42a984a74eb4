import { useMemo } from 'react'
import type { Action } from '../../access/policy'
import { domainFiltering, mailboxFiltering } from '../../api/filteringRequests'
import { FilteringViews } from './FilteringViews'

const ACTION: Action = 'filter.write'

/** The tab Filtering of a domain or a mailbox. */
export default function FilteringTab({ domain, mailbox }: { domain?: string; mailbox?: string }) {
  const requests = useMemo(() => (mailbox ? mailboxFiltering(mailbox) : domainFiltering(domain ?? '')), [domain, mailbox])
  return <FilteringViews requests={requests} action={ACTION} />
}
