import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useDenialReason } from '../../access/Allowed'
import type { Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { Badge } from '../../ui/Badge'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Section } from '../../ui/Page'
import { RecordFields } from '../dns/Record'
import { withCode } from '../dns/withCode'
import { delegationQuery } from './queries'

/** CNAME records with which keys are rotated without a change of the domain's DNS. */
export function Delegation({ domain }: { domain: Schema['DomainRecord'] }) {
  const { data, error } = useQuery(delegationQuery(domain.id))
  const canChange = useDenialReason('domain.write') === null
  const lead = 'Publish four CNAME records once. They lead to names of this server, so later keys need no change of the domain’s DNS.'
  return (
    <Section
      title="Delegation"
      lead={lead}
      actions={
        canChange && (
          <Link to={PATHS.domain} params={{ id: domain.id }} search={{ tab: 'settings' }}>
            {domain.dkim_delegated ? 'Switch off in Settings' : 'Switch on in Settings'}
          </Link>
        )
      }
    >
      <p className="row">
        <Badge tone={domain.dkim_delegated ? 'good' : 'calm'}>{domain.dkim_delegated ? 'on' : 'off'}</Badge>
        <span className="muted">
          {domain.dkim_delegated ? 'New keys use these names.' : 'New keys have records of their own in the domain’s DNS.'}
        </span>
      </p>
      {!data && (error ? <ErrorNote error={error} /> : <LoadingLines count={2} />)}
      {data?.problem && (
        <div className="note">
          <Icon name="info" />
          <div>
            <p>{withCode(data.problem)}</p>
          </div>
        </div>
      )}
      {data && data.records.length > 0 && (
        <details className="dns-record" open={domain.dkim_delegated}>
          <summary>
            <span className="dns-title">The four records</span>
          </summary>
          <ul className="dns-body dkim-delegation">
            {data.records.map((record) => (
              <li key={record.name}>
                <RecordFields record={record} of={record.name} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </Section>
  )
}
