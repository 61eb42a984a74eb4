import { useQuery } from '@tanstack/react-query'
import { fetchPage, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { useDenialReason } from '../../access/Allowed'
import { LinkButton } from '../../ui/links'
import { domainReportQuery } from '../dns/queries'
import { withCode } from '../dns/withCode'

type Domain = Schema['DomainRecord']

/** The domain whose records are to be published next: the oldest that is not in order, else the oldest. */
export function firstDomainQuery() {
  return {
    queryKey: ['domains', 'first'],
    queryFn: async () => {
      const list = (query: { dns_status?: 'failing' | 'unchecked' }) =>
        fetchPage(client.GET('/domains', { params: { query: { ...query, limit: 1, sort: 'created_at', order: 'asc' } } }))
      const [failing, unchecked, any] = await Promise.all([list({ dns_status: 'failing' }), list({ dns_status: 'unchecked' }), list({})])
      return failing.rows[0] ?? unchecked.rows[0] ?? any.rows[0] ?? null
    },
  }
}

/** Whether the records that mail needs are published, for some domain. */
export function isDnsDone(domain: Domain | null): boolean {
  return domain !== null && (domain.dns.status === 'ok' || domain.dns.status === 'attention')
}

/** The next domain and its records. */
export function useDnsStep() {
  const domain = useQuery(firstDomainQuery())
  const id = domain.data?.id
  const report = useQuery({ ...domainReportQuery(id ?? ''), enabled: Boolean(id) })
  return { isPending: domain.isPending || (Boolean(id) && report.isPending), domain: domain.data, report: report.data }
}

/** What the API says about the records of the next domain. */
export function DnsStepText() {
  const { domain, report } = useDnsStep()
  if (!domain || !report) return null
  if (report.setup)
    return (
      <>
        {' '}
        {withCode(report.setup.problem)} {withCode(report.setup.advice)}
      </>
    )
  const required = report.records.filter((each) => each.required)
  if (required.every((each) => each.status === 'not_checked')) return <> Those of {domain.unicode_name} are not checked yet.</>
  return (
    <>
      {' '}
      Of {domain.unicode_name}, {required.filter((each) => each.status === 'ok').length} of {required.length} required records are right.
    </>
  )
}

/** Leads to the setting that is missing, or to the records of the domain and the server. */
export function DnsStepButton({ variant }: { variant: 'filled' | 'default' }) {
  const { domain, report } = useDnsStep()
  const mayNotSet = useDenialReason('config.write') !== null
  const mayReadServer = useDenialReason('dns_server.read') === null
  if (!domain) return <span className="muted small">Add a domain first.</span>
  if (report?.setup)
    return mayNotSet ? (
      <span className="muted small">Ask a super administrator.</span>
    ) : (
      <LinkButton to={PATHS.settings} search={{ q: 'server.hostname' }} variant={variant}>
        Set the name
      </LinkButton>
    )
  return (
    <>
      <LinkButton to={PATHS.domain} params={{ id: domain.id }} search={{ tab: 'dns' }} variant={variant}>
        View records
      </LinkButton>
      {mayReadServer && (
        <LinkButton to={PATHS.serverDns} variant="default">
          Server’s records
        </LinkButton>
      )}
    </>
  )
}
