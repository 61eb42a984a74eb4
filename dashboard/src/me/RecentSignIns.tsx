import { client, fetchPage, type Schema } from '../api/client'
import { type Column, DataList } from '../ui/DataList'
import { EmptyState } from '../ui/Empty'
import { Section } from '../ui/Page'
import { Time } from '../ui/Time'
import { describeProgram } from '../programs'

type Login = Schema['SignInRecord']

const PROTOCOLS: Readonly<Record<string, string>> = {
  imap: 'IMAP',
  pop3: 'POP3',
  smtp: 'SMTP (sending)',
  sieve: 'ManageSieve',
  web: 'This page',
}

const COLUMNS: readonly Column<Login>[] = [
  { header: 'Last', cell: (row) => <Time at={row.last_at} form="ago" /> },
  { header: 'With', cell: (row) => PROTOCOLS[row.protocol] ?? row.protocol },
  { header: 'Program', wide: true, cell: (row) => <Program name={row.program} /> },
  { header: 'Address', cell: (row) => <span className="break">{row.ip}</span> },
]

function Program({ name }: { name: string }) {
  return (
    <span className="break" title={name}>
      {describeProgram(name) || 'with your own password'}
    </span>
  )
}

/** The last sign-ins, by mail programs and to this page: a row for each day and program. `limit`: how many, without the rest. */
export function RecentSignIns({ limit }: { limit?: number }) {
  return (
    <Section bare title="Recent sign-ins" lead="If you don't recognize one, change your password and delete the app password it used.">
      <DataList
        label="Recent sign-ins"
        queryKey={['logins', limit]}
        load={async (page) => {
          const found = await fetchPage(
            client.GET('/me/logins', { params: { query: limit ? { limit } : { ...page, sort: 'created_at' } } }),
          )
          return limit ? { ...found, next: null } : found
        }}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        empty={
          <EmptyState icon="shield" title="No sign-ins yet">
            Sign-ins of your mail programs and to this page are listed here.
          </EmptyState>
        }
      />
    </Section>
  )
}
