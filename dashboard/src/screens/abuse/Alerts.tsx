import { Button, Checkbox, Group, Modal, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { versionQuery } from '../../api/queries'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { PATHS } from '../../paths'
import { Badge } from '../../ui/Badge'
import type { Column } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { Form, FormButtons } from '../../ui/Form'
import { LinkButton } from '../../ui/links'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { useApiMutation, useForm } from '../../ui/useForm'
import { INVALIDATES } from '../incidents/IncidentForm'
import { AbuseList } from './AbuseList'

type Alert = Schema['AlertResponse']

/** An alert, and what an administrator is about to do with it. */
export interface AlertChange {
  alert: Alert
  to: 'acknowledge' | 'resolve'
}

export function Alerts() {
  const [changed, setChanged] = useState<AlertChange | null>(null)
  return (
    <Page title="Alerts" lead="Senders and domains that behave unlike before, or above a threshold.">
      <AbuseList
        what="alerts"
        label="Alerts"
        states={['unresolved', 'open', 'acknowledged', 'resolved']}
        load={(query, state) =>
          fetchPage(client.GET('/abuse/alerts', { params: { query: { ...query, ...(state && { state: state as 'open' }) } } }))
        }
        columns={columns((alert, to) => setChanged({ alert, to }))}
        empty={
          <EmptyState icon="shield" title="No alerts">
            When a sender exceeds its limit, has too many bounces or complaints, or sends far more than usual, it is shown here until that
            has ended.
          </EmptyState>
        }
      />
      <AlertDialog changed={changed} area="abuse" onClose={() => setChanged(null)} />
    </Page>
  )
}

/** `area`: whose alerts they are. */
export function AlertDialog({ changed, area, onClose }: { changed: AlertChange | null; area: Area; onClose: () => void }) {
  return (
    <>
      <Modal opened={changed?.to === 'acknowledge'} onClose={onClose} title="Acknowledge alert">
        {changed?.to === 'acknowledge' && <AcknowledgeForm alert={changed.alert} area={area} onDone={onClose} />}
      </Modal>
      <Modal opened={changed?.to === 'resolve'} onClose={onClose} title="Resolve alert">
        {changed?.to === 'resolve' && <ResolveForm alert={changed.alert} area={area} onDone={onClose} />}
      </Modal>
    </>
  )
}

type Area = 'abuse' | 'health'

function columns(onChange: (alert: Alert, to: 'acknowledge' | 'resolve') => void): readonly Column<Alert>[] {
  return [
    {
      header: 'About',
      cell: (row) => (
        <span className="strong party" title={row.subject}>
          {row.subject.includes('@') ? (
            <Link to={PATHS.messages} search={{ from: row.subject }}>
              {row.subject}
            </Link>
          ) : (
            row.subject
          )}
        </span>
      ),
    },
    {
      header: 'Problem',
      wraps: true,
      cell: (row) => (
        <span>
          {row.reason}
          {row.note && <span className="muted"> {row.note}</span>}
        </span>
      ),
    },
    { header: 'Severity', cell: (row) => <Badge tone={row.severity === 'critical' ? 'bad' : 'warn'}>{row.severity}</Badge> },
    { header: 'State', cell: (row) => <Badge tone={row.state === 'open' ? 'warn' : 'calm'}>{row.state}</Badge> },
    { header: 'Since', cell: (row) => <Time at={row.created_at} form="ago" /> },
    {
      header: '',
      align: 'right',
      cell: (row) => (
        <Group gap={4} justify="flex-end">
          {row.state === 'open' && (
            <Allowed action="alert.write">
              <Button
                variant="subtle"
                size="compact-sm"
                aria-label={`Acknowledge the alert about ${row.subject}`}
                onClick={() => onChange(row, 'acknowledge')}
              >
                Acknowledge
              </Button>
            </Allowed>
          )}
          {row.state !== 'resolved' && (
            <Allowed action="alert.write">
              <Button
                variant="subtle"
                size="compact-sm"
                aria-label={`Resolve the alert about ${row.subject}`}
                onClick={() => onChange(row, 'resolve')}
              >
                Resolve
              </Button>
            </Allowed>
          )}
          {row.state !== 'resolved' && row.subject.includes('@') && (
            <Allowed action="incident.write">
              <LinkButton
                to={PATHS.incidents}
                search={{ new: 'yes', address: row.subject }}
                variant="subtle"
                color="red"
                size="compact-sm"
                aria-label={`New incident about ${row.subject}`}
              >
                Incident
              </LinkButton>
            </Allowed>
          )}
        </Group>
      ),
    },
  ]
}

function AcknowledgeForm({ alert, area, onDone }: { alert: Alert; area: Area; onDone: () => void }) {
  const save = useApiMutation({
    request: ({ note }: { note: string }) =>
      fetchData(client.POST(`/${area}/alerts/{id}/acknowledge`, { params: { path: { id: alert.id } }, body: { ...(note && { note }) } })),
    invalidates: ['alerts', area],
    message: 'Nobody is reminded of this alert any more.',
    onSuccess: () => {
      form.markSaved()
      onDone()
    },
  })
  const form = useForm({ note: '' }, save.error)
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      isDirty={form.isDirty}
      formFields={form.names}
      actions={<FormButtons submit="Acknowledge" isPending={save.isPending} onCancel={onDone} />}
    >
      <p className="muted">{alert.reason}</p>
      <Textarea label="Note" description="What others should know" autosize minRows={2} data-autofocus {...form.textField('note')} />
    </Form>
  )
}

function ResolveForm({ alert, area, onDone }: { alert: Alert; area: Area; onDone: () => void }) {
  const isFull = useQuery(versionQuery()).data?.profile === 'full'
  const mayLift = useDenialReason('suspension.lift') === null
  const isAboutSender = area === 'abuse' && alert.subject.includes('@')
  const initial = { note: '', unsuspend: false, revoke_app_passwords: false, purge_queue: false }
  const save = useApiMutation({
    request: async ({ note, ...actions }: typeof initial) => {
      const params = { path: { id: alert.id } }
      if (area === 'health') await fetchData(client.POST('/health/alerts/{id}/resolve', { params, body: { ...(note && { note }) } }))
      else await fetchData(client.POST('/abuse/alerts/{id}/resolve', { params, body: { ...actions, ...(note && { note }) } }))
    },
    invalidates: area === 'health' ? ['alerts', area] : INVALIDATES,
    message: 'The alert is resolved.',
    onSuccess: () => {
      form.markSaved()
      onDone()
    },
  })
  const form = useForm(initial, save.error)
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      isDirty={form.isDirty}
      formFields={form.names}
      actions={<FormButtons submit="Resolve" isPending={save.isPending} onCancel={onDone} />}
    >
      <p className="muted">
        {alert.reason} If the problem is seen again, another alert opens.{isAboutSender && ' A suspension stays unless it is lifted.'}
        {isAboutSender && !mayLift && ' Only an admin or super admin can lift one by the abuse rules.'}
      </p>
      {isAboutSender && (
        <>
          {mayLift && <Checkbox label="Lift the suspension" {...form.checkbox('unsuspend')} />}
          <Checkbox label="Delete all app passwords" {...form.checkbox('revoke_app_passwords')} />
          {isFull && <Checkbox label="Delete its queued mail" {...form.checkbox('purge_queue')} />}
        </>
      )}
      <Textarea label="Note" description="What others should know" autosize minRows={2} data-autofocus {...form.textField('note')} />
    </Form>
  )
}
