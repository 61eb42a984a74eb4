import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../api/client'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { checkDomain, domainReportQuery, useCheck } from './queries'
import { ManagedRecords } from './ManagedRecords'
import { RecordGroups } from './Record'
import { Summary } from './Summary'

/** The DNS records of a domain: what to publish, and what the name servers answer. */
export default function DnsTab({ domain }: { domain: Schema['DomainRecord'] }) {
  const query = domainReportQuery(domain.id)
  const { data, error } = useQuery(query)
  const check = useCheck(query, () => checkDomain(domain.id))
  if (!data) return error ? <ErrorNote error={error} /> : <LoadingLines count={8} />
  return (
    <>
      {error && <ErrorNote error={error} />}
      <Summary report={data} check={check} checkAction="dns.check" zonePath={`/domains/${domain.id}/zone-file`} fileName={domain.name}>
        {domain.dns_managed ? (
          <ManagedRecords domainId={domain.id} />
        ) : (
          <p className="muted small">
            Publish these records where the domain’s DNS is managed, usually at its registrar. Some providers add the domain to names
            themselves: leave out <code>.{domain.name}</code> there, and enter <code>@</code> for the domain itself.
          </p>
        )}
      </Summary>
      <RecordGroups
        records={data.records}
        unknownValue={
          data.setup && (
            <>
              Known when <code>server.hostname</code> is set.
            </>
          )
        }
      />
    </>
  )
}
