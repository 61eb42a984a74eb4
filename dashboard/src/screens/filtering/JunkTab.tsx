import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { mailboxFiltering, mailboxJunk } from '../../api/filteringRequests'
import { PATHS } from '../../paths'
import { Junk } from './Junk'

/** The tab Junk of a mailbox. */
export default function JunkTab({ mailbox }: { mailbox: string }) {
  const requests = useMemo(() => mailboxJunk(mailbox), [mailbox])
  const filtering = useMemo(() => mailboxFiltering(mailbox), [mailbox])
  return (
    <Junk
      requests={requests}
      filtering={filtering}
      action="filter.write"
      explain={(id) => (
        <Link to={PATHS.message} params={{ id }}>
          Details
        </Link>
      )}
    />
  )
}
