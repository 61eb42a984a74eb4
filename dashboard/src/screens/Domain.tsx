import { Button, Modal } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { number } from '../locale'
import { PATHS } from '../paths'
import { Allowed } from '../ui/Allowed'
import { Status } from '../ui/Badge'
import { bytes, plural } from '../ui/bytes'
import { Confirm } from '../ui/Confirm'
import { Copy } from '../ui/Copy'
import { Lines } from '../ui/DataList'
import { DomainForm } from '../ui/DomainForm'
import { domainQuery } from '../ui/Domains'
import { ErrorNote } from '../ui/ErrorNote'
import { isMissing, Missing } from '../ui/Missing'
import { useChange } from '../ui/form'
import { Icon } from '../ui/Icon'
import { Facts, Page, Section } from '../ui/Page'
import { useReady } from '../ui/ready'
import { Time } from '../ui/Time'
import { DomainState } from './Domains'

const route = getRouteApi('/inside/domains/$id')

export function Domain() {
  const { id } = route.useParams()
  const { data, error } = useQuery(domainQuery(id))
  // Both at once: what is below the keys must not move when they come.
  const keys = useQuery(keysQuery(id))
  const isReady = useReady(!keys.isPending)
  const [asked, setAsked] = useState<'change' | 'delete' | null>(null)
  const back = <Link to={PATHS.domains}>← Domains</Link>
  if (isMissing(error)) return <Missing title="No such domain" back={back} error={error} />
  if (!data || !isReady)
    return (
      <Page title={data?.unicode_name ?? 'Domain'} back={back}>
        {error ? <ErrorNote error={error} /> : <Lines />}
      </Page>
    )
  return (
    <Page
      title={data.unicode_name}
      back={back}
      lead={
        <>
          <DomainState domain={data} /> {data.description}
        </>
      }
      actions={
        <Allowed to="domain.write">
          <Button leftSection={<Icon name="edit" size={16} />} onClick={() => setAsked('change')}>
            Change
          </Button>
        </Allowed>
      }
    >
      <Section title="Domain">
        <Facts rows={facts(data)} />
      </Section>
      <DkimKeys domain={data} />
      <Section title="Danger zone">
        <div className="between">
          <p className="soft">A domain can be deleted once it has no mailboxes and no aliases left.</p>
          <Allowed to="domain.write" unless={left(data)}>
            <Button variant="light" color="red" onClick={() => setAsked('delete')}>
              Delete domain
            </Button>
          </Allowed>
        </div>
      </Section>
      <Modal opened={asked === 'change'} onClose={() => setAsked(null)} title={`Change ${data.unicode_name}`} size="lg">
        <DomainForm domain={data} onDone={() => setAsked(null)} onCancel={() => setAsked(null)} />
      </Modal>
      <DeleteDomain domain={data} opened={asked === 'delete'} onClose={() => setAsked(null)} />
    </Page>
  )
}

function facts(domain: Schema['DomainRecord']) {
  const most = (limit: number | null) => (limit === null ? '' : ` of ${number(limit)}`)
  const { usage } = domain
  return [
    ['Mailboxes', <Link to={PATHS.mailboxes} search={{ domain: domain.id }}>{`${number(usage.mailboxes)}${most(domain.max_mailboxes)}`}</Link>],
    ['Aliases', <Link to={PATHS.aliases} search={{ domain: domain.id }}>{`${number(usage.aliases)}${most(domain.max_aliases)}`}</Link>],
    ['Stored', bytes(usage.bytes)],
    ['Messages', <Link to={PATHS.messages} search={{ domain: domain.id }}>Show them</Link>],
    ['Quota of a new mailbox', domain.default_quota_bytes ? bytes(domain.default_quota_bytes) : 'without limit'],
    ['Tags in addresses', domain.plus_delimiter ? <code>{`name${domain.plus_delimiter}tag`}</code> : 'none'],
    ['Relay', domain.relay ? <code>{`${domain.relay.host}:${domain.relay.port}`}</code> : 'none'],
    ['DNS', <><Status of={domain.dns.status} /> {domain.dns.checked_at && <Time at={domain.dns.checked_at} form="ago" />}</>],
    ['As the DNS writes it', <code>{domain.name}</code>],
    ['Made', <Time at={domain.created_at} />],
    ['Id', <span className="copyable"><code>{domain.id}</code><Copy text={domain.id} what="id" /></span>],
  ] as const
}

/** Why the domain can't be deleted yet. */
function left({ usage }: Schema['DomainRecord']): string | null {
  if (usage.mailboxes + usage.aliases === 0) return null
  return `It still has ${plural(usage.mailboxes, 'mailbox', 'mailboxes')} and ${plural(usage.aliases, 'alias', 'aliases')}; delete these first.`
}

function keysQuery(id: string) {
  return queryOptions({
    queryKey: ['domains', 'dkim', id],
    queryFn: () => ask(client.GET('/domains/{id}/dkim-keys', { params: { path: { id } } })),
  })
}

function DkimKeys({ domain }: { domain: Schema['DomainRecord'] }) {
  const { data, error } = useQuery(keysQuery(domain.id))
  return (
    <Section title="DKIM" lead="What is sent is signed with these keys. Who gets it looks for them in the domain's DNS: publish each as a TXT record.">
      <ErrorNote error={error} />
      {data?.map((key) => (
        <div className="stack dkim" key={key.id}>
          <div className="row">
            <span className="strong">{key.selector}</span>
            <Status of={key.stage} />
            <span className="soft">{key.algorithm}</span>
            <span className="soft">
              record: <Status of={key.dns.status} />
            </span>
          </div>
          <RecordLine name="Name" value={key.dns.name} />
          <RecordLine name="Value" value={key.dns.value} />
        </div>
      ))}
    </Section>
  )
}

function RecordLine({ name, value }: { name: string; value: string }) {
  return (
    <div className="record">
      <span className="soft small">{name}</span>
      <code>{value}</code>
      <Copy text={value} what={name.toLowerCase()} />
    </div>
  )
}

function DeleteDomain(props: { domain: Schema['DomainRecord']; opened: boolean; onClose: () => void }) {
  const { domain } = props
  const navigate = useNavigate()
  const remove = useChange({
    change: () => ask(client.DELETE('/domains/{id}', { params: { path: { id: domain.id } } })),
    refreshes: ['domains'],
    forgets: ['domains', 'one', domain.id],
    told: `${domain.unicode_name} is deleted.`,
    then: () => void navigate({ to: PATHS.domains }),
  })
  return (
    <Confirm {...props} title={`Delete ${domain.unicode_name}`} action="Delete domain" name={domain.unicode_name} busy={remove.isPending} error={remove.error} onConfirm={() => remove.mutate(undefined)}>
      Its DKIM keys, webhooks and assignments to administrators go with it. Mail for it is refused from then on.
    </Confirm>
  )
}
