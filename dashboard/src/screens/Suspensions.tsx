import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, askPage, client, type Schema } from '../api/client'
import { Allowed } from '../ui/Allowed'
import { Badge } from '../ui/Badge'
import { Confirm } from '../ui/Confirm'
import { type Column, DataList } from '../ui/DataList'
import { DomainName } from '../ui/Domains'
import { Empty } from '../ui/Empty'
import { DomainFilter, Filters } from '../ui/Filters'
import { useChange } from '../ui/form'
import { Page } from '../ui/Page'
import { Time } from '../ui/Time'

type Suspension = Schema['SuspensionResponse']

const route = getRouteApi('/inside/suspensions')

export function Suspensions() {
  const { domain } = route.useSearch()
  const [lifted, setLifted] = useState<Suspension | null>(null)
  const lead = 'Addresses that may not send: stopped by the abuse rules when they sent too much, or by an administrator.'
  return (
    <Page title="Suspensions" lead={lead}>
      <Filters names={['domain']}>
        <DomainFilter />
      </Filters>
      <DataList
        label="Suspensions"
        of={['suspensions', 'list', domain]}
        load={(page) => askPage(client.GET('/abuse/suspensions', { params: { query: { ...page, sort: page.sort as 'created_at', ...(domain && { domain_id: domain }) } } }))}
        columns={columns(setLifted)}
        rowKey={(row) => row.id}
        empty={
          <Empty icon="shield" title="Nobody is suspended">
            When an address sends to more recipients in an hour than it may, it is stopped here until somebody lifts it.
          </Empty>
        }
      />
      {lifted && <Lift suspension={lifted} onClose={() => setLifted(null)} />}
    </Page>
  )
}

function columns(onLift: (row: Suspension) => void): readonly Column<Suspension>[] {
  return [
    { head: 'Address', cell: (row) => <span className="strong party" title={row.address}>{row.address}</span> },
    { head: 'Reason', wide: true, cell: (row) => <span title={row.reason}>{row.reason || <span className="soft">none was given</span>}</span> },
    { head: 'By', cell: (row) => (row.by.kind === 'rules' ? <Badge tone="warn">abuse rules</Badge> : <span className="party" title={row.by.label}>{row.by.label}</span>) },
    { head: 'Domain', cell: (row) => <DomainName id={row.domain_id} /> },
    { head: 'Since', cell: (row) => <Time at={row.at} form="ago" /> },
    {
      head: '',
      align: 'right',
      cell: (row) => (
        <Allowed to="suspension.lift">
          <Button size="xs" variant="default" onClick={() => onLift(row)} aria-label={`Lift the suspension of ${row.address}`}>
            Lift
          </Button>
        </Allowed>
      ),
    },
  ]
}

function Lift({ suspension, onClose }: { suspension: Suspension; onClose: () => void }) {
  const lift = useChange({
    change: () => ask(client.DELETE('/abuse/suspensions/{id}', { params: { path: { id: suspension.id } } })),
    refreshes: ['suspensions', 'mailboxes'],
    told: `${suspension.address} may send again.`,
    then: onClose,
  })
  return (
    <Confirm opened onClose={onClose} title="Lift the suspension" action="Lift" busy={lift.isPending} error={lift.error} onConfirm={() => lift.mutate(undefined)}>
      <strong className="break">{suspension.address}</strong> may send again at once, and its recipients are counted from nothing. Change its password first, if somebody else may know it.
    </Confirm>
  )
}
