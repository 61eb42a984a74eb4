import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schema } from '../../api/client'
import { SiblingTabs } from '../../layout/Navigation'
import { PATHS } from '../../paths'
import { Badge, type Tone } from '../../ui/Badge'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Facts, Page, Section } from '../../ui/Page'
import { TableHead } from '../../ui/TableHead'
import { checkServer, type ServerReport, serverReportQuery, useCheck } from './queries'
import { RecordGroups } from './Record'
import { Summary } from './Summary'

type Listing = Schema['BlocklistResult']

const LISTINGS: Readonly<Record<Listing['status'], { text: string; tone: Tone }>> = {
  listed: { text: 'listed', tone: 'bad' },
  not_listed: { text: 'not listed', tone: 'good' },
  unavailable: { text: 'no answer', tone: 'warn' },
}

/** The DNS records of the server's own name and addresses, and blocklists. */
export function ServerDns() {
  return (
    <Page title="Server’s DNS" lead="The records of the server’s own name and addresses. Every domain depends on them.">
      <SiblingTabs screen="domains" label="DNS" first="Domains" />
      <Content />
    </Page>
  )
}

function Content() {
  const query = serverReportQuery()
  const { data, error } = useQuery(query)
  const check = useCheck(query, checkServer)
  if (!data) return error ? <ErrorNote error={error} /> : <LoadingLines count={8} />
  return (
    <>
      {error && <ErrorNote error={error} />}
      <Summary
        report={data}
        check={check}
        checkAction="dns_server.check"
        zonePath="/dns/server/zone-file"
        fileName={data.hostname ?? 'server'}
      >
        {data.blocklists.some((each) => each.status === 'listed') && (
          <div className="note note-bad">
            <Icon name="warn" />
            <div>
              <p className="note-title">An address of the server is on a blocklist</p>
              <p>Many receivers refuse its mail. See “Blocklists” below.</p>
            </div>
          </div>
        )}
        <Facts rows={facts(data)} />
      </Summary>
      <RecordGroups records={data.records} />
      {!data.setup && <Blocklists rows={data.blocklists} />}
    </>
  )
}

function facts({ hostname, addresses, name_servers }: ServerReport): readonly (readonly [string, ReactNode])[] {
  const setting = (key: string) => (
    <Link to={PATHS.settings} search={{ q: key }}>
      Change
    </Link>
  )
  const list = (values: readonly string[]) =>
    values.length ? (
      values.map((value) => (
        <span key={value}>
          <code>{value}</code>{' '}
        </span>
      ))
    ) : (
      <span className="muted">not known </span>
    )
  return [
    [
      'Name',
      <>
        {hostname ? <code>{hostname}</code> : <span className="muted">not set</span>} {setting('server.hostname')}
      </>,
    ],
    [
      'Public addresses',
      <>
        {list(addresses)}
        {setting('server.addresses')}
      </>,
    ],
    [
      'Name servers that are asked',
      <>
        {list(name_servers)}
        {setting('dns.servers')}
      </>,
    ],
  ]
}

function Blocklists({ rows }: { rows: readonly Listing[] }) {
  return (
    <Section
      title="Blocklists"
      lead="Receivers refuse mail from addresses that are listed."
      actions={
        <Link to={PATHS.settings} search={{ q: 'dns.blocklists' }}>
          Change the lists
        </Link>
      }
    >
      {rows.length === 0 ? (
        <p className="muted">Nothing was looked up yet: no check has run, no public address is known, or no list is set.</p>
      ) : (
        <table className="list" role="table" aria-label="Blocklists">
          <TableHead headers={['List', 'Address', 'Result', 'What to do']} />
          <tbody role="rowgroup">
            {rows.map((row) => (
              <tr key={`${row.zone} ${row.address}`} role="row">
                <td role="cell" data-label="List">
                  {row.zone}
                </td>
                <td role="cell" data-label="Address">
                  <code>{row.address}</code>
                </td>
                <td role="cell" data-label="Result">
                  <Badge tone={LISTINGS[row.status].tone}>{LISTINGS[row.status].text}</Badge>
                </td>
                <td role="cell" data-label="What to do">
                  <span className="reason">
                    <Advice row={row} />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  )
}

function Advice({ row: { reason, problem, advice, removal_url, zone } }: { row: Listing }) {
  if (!reason && !problem && !advice && !removal_url) return <span className="muted">Nothing.</span>
  return (
    <>
      {[problem, advice].filter(Boolean).join(' ')} {reason && <span className="muted">The list says: “{reason}”</span>}{' '}
      {removal_url?.startsWith('https://') && (
        <a href={removal_url} target="_blank" rel="noreferrer">
          Ask {zone} for removal
        </a>
      )}
    </>
  )
}
