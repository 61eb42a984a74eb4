import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { AbuseTabs } from '../abuse/AbuseTabs'
import { Badge } from '../../ui/Badge'
import { ConfirmDelete } from '../../ui/Confirm'
import { type Column, DataList } from '../../ui/DataList'
import { DomainName } from '../domains/DomainSelect'
import { EmptyState } from '../../ui/Empty'
import { NoMatches } from '../../ui/NoMatches'
import { DomainFilter } from '../domains/DomainFilter'
import { Filters } from '../../ui/Filters'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'

type Suspension = Schema['SuspensionResponse']

const route = getRouteApi('/app/suspensions')

export function Suspensions() {
  const { domain } = route.useSearch()
  const [lifted, setLifted] = useState<Suspension | null>(null)
  const mayLift = useDenialReason('suspension.lift') === null
  const who = mayLift ? '' : ' Only an admin or super admin can lift those by the abuse rules; lift your own on the mailbox’s screen.'
  const lead = `Addresses whose sending is suspended by the abuse rules or by an administrator.${who}`
  return (
    <Page title="Suspensions" lead={lead}>
      <AbuseTabs />
      <Filters names={['domain']}>
        <DomainFilter />
      </Filters>
      <DataList
        label="Suspensions"
        queryKey={['suspensions', 'list', domain]}
        load={(page) =>
          fetchPage(
            client.GET('/abuse/suspensions', {
              params: { query: { ...page, sort: page.sort as 'created_at', ...(domain && { domain_id: domain }) } },
            }),
          )
        }
        columns={columns(setLifted)}
        rowKey={(row) => row.id}
        empty={
          domain ? (
            <NoMatches what="suspensions" filters={['domain']} />
          ) : (
            <EmptyState icon="shield" title="No suspensions">
              An address that exceeds its hourly limit of recipients is suspended until an administrator lifts the suspension.
            </EmptyState>
          )
        }
      />
      {lifted && <LiftSuspension suspension={lifted} onClose={() => setLifted(null)} />}
    </Page>
  )
}

function columns(onLift: (row: Suspension) => void): readonly Column<Suspension>[] {
  return [
    {
      header: 'Address',
      cell: (row) => (
        <span className="strong party" title={row.address}>
          {row.address}
        </span>
      ),
    },
    {
      header: 'Reason',
      wraps: true,
      cell: (row) => <span>{row.reason || <span className="muted">none given</span>}</span>,
    },
    {
      header: 'By',
      cell: (row) =>
        row.by.kind === 'rules' ? (
          <Badge tone="warn">abuse rules</Badge>
        ) : (
          <span className="party" title={row.by.label}>
            {row.by.label}
          </span>
        ),
    },
    { header: 'Domain', cell: (row) => <DomainName id={row.domain_id} /> },
    { header: 'Since', cell: (row) => <Time at={row.at} form="ago" /> },
    {
      header: '',
      align: 'right',
      cell: (row) => (
        <Allowed action="suspension.lift">
          <Button size="xs" variant="default" onClick={() => onLift(row)} aria-label={`Lift suspension of ${row.address}`}>
            Lift
          </Button>
        </Allowed>
      ),
    },
  ]
}

function LiftSuspension({ suspension, onClose }: { suspension: Suspension; onClose: () => void }) {
  return (
    <ConfirmDelete
      opened
      onClose={onClose}
      title="Lift suspension"
      action="Lift"
      request={() => fetchData(client.DELETE('/abuse/suspensions/{id}', { params: { path: { id: suspension.id } } }))}
      invalidates={['suspensions', 'mailboxes']}
      message={`${suspension.address} can send again.`}
    >
      <strong className="break">{suspension.address}</strong> can send again immediately, and its hourly count of recipients is reset. If
      somebody else may know its password, change it first.
    </ConfirmDelete>
  )
}
