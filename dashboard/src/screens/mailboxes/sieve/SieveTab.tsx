import { Button, Modal, Table, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Allowed } from '../../../access/Allowed'
import type { Schema } from '../../../api/client'
import { type MailboxRequests, mailboxRequests } from '../../../api/mailboxRequests'
import { versionQuery } from '../../../api/queries'
import { useSearchParams } from '../../../search'
import { Badge } from '../../../ui/Badge'
import { ConfirmDelete } from '../../../ui/Confirm'
import { LoadingLines } from '../../../ui/DataList'
import { EmptyState } from '../../../ui/Empty'
import { ErrorBar } from '../../../ui/ErrorBar'
import { ErrorNote } from '../../../ui/ErrorNote'
import { Form } from '../../../ui/Form'
import { useApiMutation } from '../../../ui/useForm'
import { Section } from '../../../ui/Page'
import { ScriptEditor } from './ScriptEditor'

type Listed = Schema['ListedScriptResponse']

/** The Sieve scripts of a mailbox. The query parameter `script` names the one in the editor. */
export function SieveTab({ mailbox }: { mailbox: Schema['MailboxRecord'] }) {
  const requests = useMemo(() => mailboxRequests(mailbox.id), [mailbox.id])
  return <SieveScripts address={mailbox.address} requests={requests} owner="The owner edits" />
}

interface Props {
  /** The address of the mailbox. */
  address: string
  requests: MailboxRequests
  /** Who else edits the scripts, as the start of a sentence. */
  owner: string
}

export function SieveScripts(props: Props) {
  const { data: version } = useQuery(versionQuery())
  if (!version) return <LoadingLines />
  if (version.profile !== 'full')
    return (
      <EmptyState icon="sliders" title="No Sieve scripts in the embedded profile">
        Scripts are run by Dovecot, which is part of the full profile.
      </EmptyState>
    )
  return <Scripts {...props} />
}

function Scripts({ address, requests, owner }: Props) {
  const [params, change] = useSearchParams()
  const [isNew, setNew] = useState(false)
  const [created, setCreated] = useState<string | null>(null)
  const [deleted, setDeleted] = useState<Listed | null>(null)
  const query = useQuery({
    queryKey: ['sieve', requests.id],
    queryFn: requests.sieve.list,
  })
  const activate = useApiMutation({
    request: (script: Listed) => (script.active ? requests.sieve.deactivate() : requests.sieve.activate(script.name)),
    invalidates: ['sieve'],
    message: (_, script) => (script.active ? `${script.name} filters no mail any more.` : `${script.name} filters new mail from now on.`),
  })
  if (query.error) return <ErrorNote error={query.error} />
  if (!query.data) return <LoadingLines />
  const scripts = query.data
  const selected = scripts.find((each) => each.name === params['script'])?.name ?? created
  const open = (name: string) => {
    setCreated(scripts.some((each) => each.name === name) ? null : name)
    change({ script: name })
  }
  return (
    <>
      <Section
        title="Sieve scripts"
        lead={`One script can be active: it filters new mail after the spam filter. ${owner} the same scripts with ManageSieve.`}
        actions={
          <Allowed action="sieve.write">
            <Button onClick={() => setNew(true)}>New script</Button>
          </Allowed>
        }
      >
        <ErrorBar error={activate.error} />
        {scripts.length === 0 ? (
          <p className="muted">
            No scripts yet. All mail that is not spam goes to the inbox. Create a script, then add filters from templates.
          </p>
        ) : (
          <Table className="list" aria-label="Sieve scripts">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th className="right">
                  <span className="visually-hidden">Actions</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {scripts.map((script) => (
                <Table.Tr key={script.name}>
                  <Table.Td className="wide break" data-label="">
                    <button type="button" className="link-like" aria-expanded={script.name === selected} onClick={() => open(script.name)}>
                      {script.name}
                    </button>
                  </Table.Td>
                  <Table.Td data-label="State">{script.active ? <Badge tone="good">active</Badge> : <Badge>inactive</Badge>}</Table.Td>
                  <Table.Td className="right" data-label="">
                    <div className="row row-end">
                      <Allowed action="sieve.write">
                        <Button
                          size="xs"
                          variant="default"
                          loading={activate.isPending && activate.variables === script}
                          aria-label={`${script.active ? 'Deactivate' : 'Activate'} ${script.name}`}
                          onClick={() => activate.mutate(script)}
                        >
                          {script.active ? 'Deactivate' : 'Activate'}
                        </Button>
                      </Allowed>
                      <Allowed action="sieve.write" disabledReason={script.active ? 'Deactivate it first.' : null}>
                        <Button
                          size="xs"
                          variant="light"
                          color="red"
                          aria-label={`Delete ${script.name}`}
                          onClick={() => setDeleted(script)}
                        >
                          Delete
                        </Button>
                      </Allowed>
                    </div>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Section>
      {selected && (
        <ScriptEditor
          key={selected}
          address={address}
          requests={requests}
          name={selected}
          isNew={!scripts.some((each) => each.name === selected)}
          isActive={scripts.some((each) => each.name === selected && each.active)}
          onClose={() => {
            setCreated(null)
            change({ script: undefined })
          }}
        />
      )}
      <Modal opened={isNew} onClose={() => setNew(false)} title="New script">
        {isNew && (
          <NewScript
            names={scripts.map((each) => each.name)}
            onClose={() => setNew(false)}
            onCreate={(name) => {
              setNew(false)
              open(name)
            }}
          />
        )}
      </Modal>
      {deleted && (
        <ConfirmDelete
          opened
          onClose={() => setDeleted(null)}
          title={`Delete ${deleted.name}`}
          request={() => requests.sieve.remove(deleted.name)}
          invalidates={['sieve']}
          removes={['sieve', requests.id, deleted.name]}
          message={`Deleted ${deleted.name}.`}
        >
          <p>The script is deleted permanently. It is not active, so that mail is filtered as before.</p>
        </ConfirmDelete>
      )}
    </>
  )
}

function NewScript({ names, onClose, onCreate }: { names: readonly string[]; onClose: () => void; onCreate: (name: string) => void }) {
  const [name, setName] = useState(names.length === 0 ? 'main' : '')
  const isTaken = names.includes(name.trim())
  return (
    <Form
      onSubmit={() => name.trim() && !isTaken && onCreate(name.trim())}
      actions={
        <>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit">Continue</Button>
        </>
      }
    >
      <TextInput
        label="Name"
        description="Shown by mail programs with ManageSieve too"
        data-autofocus
        autoComplete="off"
        maxLength={128}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={isTaken ? 'A script has this name.' : undefined}
      />
    </Form>
  )
}
