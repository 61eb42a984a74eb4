import { Button, Modal, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { client, fetchData, type Schema } from '../../api/client'
import { Allowed } from '../../access/Allowed'
import type { Action } from '../../access/policy'
import { PATHS } from '../../paths'
import { fromLocal, OWN_ZONE, toLocal } from '../../timeZone'
import { Confirm } from '../../ui/Confirm'
import { Form } from '../../ui/Form'
import { useApiMutation, useForm } from '../../ui/useForm'
import { pluralize } from '../../units'

type MessageRecord = Schema['MessageResponse']

const OPEN: readonly string[] = ['scheduled', 'submitting', 'queued', 'deferred']
const DELIVERED: readonly string[] = ['delivered', 'relayed']

/** What can be done with a message in its present state. */
export function MessageActions({ message }: { message: MessageRecord }) {
  const statuses = message.recipients.map((each) => each.status)
  const isSent = message.direction === 'outbound' && ['api', 'smtp'].includes(message.source)
  const undelivered = statuses.filter((status) => !DELIVERED.includes(status)).length
  const canResend = isSent && undelivered > 0 && !statuses.some((status) => OPEN.includes(status)) && message.status !== 'cancelled'
  return (
    <>
      {message.status === 'scheduled' && <Reschedule message={message} />}
      {message.status === 'scheduled' && (
        <ConfirmedAction
          action="message.schedule"
          label="Cancel message"
          close="Keep it"
          title="Cancel this message"
          request={() => fetchData(client.POST('/messages/{id}/cancel', { params: { path: { id: message.id } } }))}
          done={() => 'The message is cancelled.'}
        >
          It is not sent, and its content is deleted now. This can't be undone.
        </ConfirmedAction>
      )}
      {message.direction === 'outbound' && statuses.includes('deferred') && (
        <ConfirmedAction
          action="message.retry"
          label="Retry now"
          title="Retry the delivery now"
          request={() => fetchData(client.POST('/messages/{id}/retry', { params: { path: { id: message.id } } }))}
          done={() => 'The mail server is trying again.'}
        >
          The mail server attempts the delivery to {pluralize(statuses.filter((each) => each === 'deferred').length, 'deferred recipient')}{' '}
          now instead of waiting.
        </ConfirmedAction>
      )}
      {canResend && <Resend message={message} undelivered={undelivered} />}
    </>
  )
}

function Resend({ message, undelivered }: { message: MessageRecord; undelivered: number }) {
  const navigate = useNavigate()
  return (
    <ConfirmedAction
      action="message.resend"
      label="Send again"
      title="Send this message again"
      request={() => fetchData(client.POST('/messages/{id}/resend', { params: { path: { id: message.id } } }))}
      done={() => 'Sent again as a new message.'}
      onDone={(sent) => void navigate({ to: PATHS.message, params: { id: sent.id } })}
    >
      Sends a new message with the same content to {pluralize(undelivered, 'recipient')} that did not get it. The others get nothing, and
      suppressed addresses are left out.
    </ConfirmedAction>
  )
}

interface ConfirmedProps {
  action: Action
  label: string
  title: string
  close?: string
  request: () => Promise<MessageRecord>
  done: () => string
  onDone?: (answer: MessageRecord) => void
  children: React.ReactNode
}

/** A button whose request is confirmed first. */
function ConfirmedAction({ action, label, title, close, request, done, onDone, children }: ConfirmedProps) {
  const [isOpen, setOpen] = useState(false)
  const run = useApiMutation({
    request,
    invalidates: ['messages'],
    message: done,
    onSuccess: (answer) => {
      setOpen(false)
      onDone?.(answer)
    },
  })
  return (
    <>
      <Allowed action={action}>
        <Button variant="default" onClick={() => setOpen(true)}>
          {label}
        </Button>
      </Allowed>
      <Confirm
        opened={isOpen}
        onClose={() => {
          run.reset()
          setOpen(false)
        }}
        title={title}
        action={label}
        {...(close && { close })}
        isPending={run.isPending}
        error={run.error}
        onConfirm={() => run.mutate(undefined)}
      >
        {children}
      </Confirm>
    </>
  )
}

function Reschedule({ message }: { message: MessageRecord }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Allowed action="message.schedule">
        <Button variant="default" onClick={() => setOpen(true)}>
          Reschedule
        </Button>
      </Allowed>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Reschedule">
        {isOpen && <RescheduleForm message={message} onDone={() => setOpen(false)} />}
      </Modal>
    </>
  )
}

function RescheduleForm({ message, onDone }: { message: MessageRecord; onDone: () => void }) {
  const save = useApiMutation({
    request: (time: string) =>
      fetchData(
        client.PATCH('/messages/{id}', {
          params: { path: { id: message.id } },
          body: { scheduled_at: fromLocal(time, OWN_ZONE) ?? '' },
        }),
      ),
    invalidates: ['messages'],
    message: 'The message is rescheduled.',
    onSuccess: () => {
      form.markSaved()
      onDone()
    },
  })
  const form = useForm({ scheduled_at: toLocal(message.scheduled_at, OWN_ZONE) }, save.error)
  return (
    <Form
      onSubmit={() => save.mutate(form.values.scheduled_at)}
      error={save.error}
      isDirty={form.isDirty}
      formFields={form.names}
      actions={
        <>
          <Button variant="default" onClick={onDone}>
            Close
          </Button>
          <Button type="submit" loading={save.isPending}>
            Reschedule
          </Button>
        </>
      }
    >
      <TextInput
        type="datetime-local"
        label="Send at"
        description={`Time zone ${OWN_ZONE}; at most 30 days ahead`}
        data-autofocus
        {...form.textField('scheduled_at')}
      />
    </Form>
  )
}
