import { Modal, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useId, useState } from 'react'
import { askPage, client, type Schema } from '../api/client'
import { adminsQuery, keysQuery, webhooksQuery } from '../api/lists'
import { NAVIGATION } from '../navigation'
import { PATHS } from '../paths'
import { barred } from '../policy'
import { useAccount, useClosed } from './Allowed'
import { domainsQuery } from './Domains'
import { Icon, type IconName } from './Icon'
import { useLogout } from './Layout'

interface Command {
  id: string
  label: string
  hint?: string
  icon: IconName
  words?: string
  run: () => void
}

/** Goes to any screen, finds domains and mailboxes, and does what needs no screen: by a few letters. */
export function Palette({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal.Root opened={opened} onClose={onClose} padding={0} size="lg" yOffset="12vh" lockScroll={false} transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content aria-label="Search">
        <Modal.Body>{opened && <Finder onClose={onClose} />}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

function Finder({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const list = useId()
  const commands = useCommands(typed.trim())
  const active = Math.min(at, commands.length - 1)
  function run(command: Command | undefined) {
    if (!command) return
    onClose()
    command.run()
  }
  function press(event: KeyboardEvent) {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      const step = event.key === 'ArrowDown' ? 1 : -1
      setAt((active + step + commands.length) % Math.max(1, commands.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      run(commands[active])
    }
  }
  return (
    <div className="palette">
      <div className="palette-input">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Search screens and everything that has a name"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={commands[active] && `${list}-${active}`}
          aria-autocomplete="list"
          placeholder="Go to, find, do …"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          data-autofocus
          autoFocus
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={press}
        />
      </div>
      <ul id={list} role="listbox" aria-label="Found">
        {commands.map((command, index) => (
          <li
            key={command.id}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === active}
            ref={index === active ? (node) => node?.scrollIntoView({ block: 'nearest' }) : null}
            onMouseMove={() => setAt(index)}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span className="palette-label">{command.label}</span>
            {command.hint && <span className="soft">{command.hint}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}

function useCommands(typed: string): readonly Command[] {
  const found = useFound(typed)
  const fixed = useFixed()
  const navigate = useNavigate()
  const words = typed.toLowerCase().split(/\s+/)
  const fitting = fixed.filter((command) => words.every((word) => `${command.label} ${command.words ?? ''}`.toLowerCase().includes(word)))
  if (!typed) return fitting
  const ways: Command[] = [
    {
      id: 'search-messages',
      label: `Search messages for “${typed}”`,
      icon: 'mail',
      run: () => void navigate({ to: PATHS.messages, search: { q: typed } }),
    },
  ]
  if (typed.includes('@'))
    ways.unshift({
      id: 'where',
      label: `Where would mail for ${typed} go?`,
      icon: 'route',
      run: () => void navigate({ to: PATHS.routing, search: { address: typed } }),
    })
  return [...fitting, ...found.things, ...ways, ...found.messages]
}

/** Screens and deeds. */
function useFixed(): readonly Command[] {
  const account = useAccount()
  const closed = useClosed()
  const navigate = useNavigate()
  const logout = useLogout()
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  const screens = NAVIGATION.flatMap((group) => group.entries)
    .filter((entry) => !closed(entry))
    .map((entry): Command => ({
      id: entry.screen,
      label: entry.label,
      icon: entry.icon,
      ...(entry.words && { words: entry.words }),
      ...(entry.key && { hint: `g ${entry.key}` }),
      run: () => void navigate({ to: PATHS[entry.screen] }),
    }))
  const makes: readonly [string, '/domains' | '/mailboxes' | '/aliases' | '/api-keys' | '/webhooks' | '/admins', Parameters<typeof barred>[1]][] = [
    ['New domain', PATHS.domains, 'domain.create'],
    ['New mailbox', PATHS.mailboxes, 'mailbox.write'],
    ['New alias', PATHS.aliases, 'alias.write'],
    ['New API key', PATHS.keys, 'api_key.write'],
    ['New webhook', PATHS.webhooks, 'webhook.write'],
    ['New administrator', PATHS.admins, 'admin.write'],
  ]
  return [
    ...screens,
    ...makes
      .filter(([, , action]) => !barred(account, action))
      .map(([label, to]): Command => ({ id: label, label, icon: 'plus', words: 'create add make', run: () => void navigate({ to, search: { new: 'yes' } }) })),
    { id: 'light', label: 'Light theme', icon: 'sun', run: () => setColorScheme('light') },
    { id: 'dark', label: 'Dark theme', icon: 'moon', run: () => setColorScheme('dark') },
    { id: 'system', label: 'Theme of the system', icon: 'refresh', run: () => setColorScheme('auto') },
    { id: 'shortcuts', label: 'Keyboard shortcuts', icon: 'info', words: 'keys help', run: () => window.dispatchEvent(new Event('mailkeep:shortcuts')) },
    { id: 'docs', label: 'API documentation', icon: 'book', words: 'reference help', run: () => window.location.assign('/docs') },
    { id: 'logout', label: 'Log out', icon: 'out', words: 'sign out leave', run: () => logout.mutate(undefined) },
  ]
}

/** Everything with a name, and messages, that hold what was typed; of each kind a few, of what the account may list. */
function useFound(typed: string): { things: readonly Command[]; messages: readonly Command[] } {
  const navigate = useNavigate()
  const [q] = useDebouncedValue(typed, 150)
  const options = { enabled: q.length > 1, placeholderData: keepPreviousData, staleTime: 10_000 } as const
  const domains = useQuery({
    queryKey: ['domains', 'palette', q],
    queryFn: () => askPage(client.GET('/domains', { params: { query: { name: q, limit: 5 } } })),
    ...options,
  })
  const mailboxes = useQuery({
    queryKey: ['mailboxes', 'palette', q],
    queryFn: () => askPage(client.GET('/mailboxes', { params: { query: { q, limit: 5 } } })),
    ...options,
  })
  const messages = useQuery({
    queryKey: ['messages', 'palette', q],
    queryFn: () => askPage(client.GET('/messages', { params: { query: { q, limit: 4 } } })),
    ...options,
    enabled: q.length > 2,
  })
  const account = useAccount()
  const aliases = useAliases(q, options)
  const admins = useQuery({ ...adminsQuery(), enabled: options.enabled && !barred(account, 'admin.list') })
  const keys = useQuery({ ...keysQuery(), enabled: options.enabled && !barred(account, 'api_key.list') })
  const webhooks = useQuery({ ...webhooksQuery(), enabled: options.enabled && !barred(account, 'webhook.list') })
  if (typed.length < 2) return { things: [], messages: [] }
  const holds = (text: string) => text.toLowerCase().includes(q.toLowerCase())
  const few = <Row,>(rows: readonly Row[] | undefined, name: (row: Row) => string) => (rows ?? []).filter((row) => holds(name(row))).slice(0, 5)
  const others: readonly Command[] = [
    ...aliases.map(({ row, address }): Command => ({
      id: row.id,
      label: address,
      hint: 'Alias',
      icon: 'branch',
      run: () => void navigate({ to: PATHS.aliases, search: { domain: row.domain_id, edit: row.id } }),
    })),
    ...few(webhooks.data, (row) => row.url).map((row): Command => ({ id: row.id, label: row.url, hint: 'Webhook', icon: 'hook', run: () => void navigate({ to: PATHS.webhook, params: { id: row.id } }) })),
    ...few(keys.data, (row) => `${row.name} ${row.key_prefix}`).map((row): Command => ({ id: row.id, label: row.name, hint: 'API key', icon: 'key', run: () => void navigate({ to: PATHS.keys }) })),
    ...few(admins.data, (row) => row.email).map((row): Command => ({ id: row.id, label: row.email, hint: 'Administrator', icon: 'people', run: () => void navigate({ to: PATHS.admins }) })),
  ]
  const domainCommand = (row: Schema['DomainRecord']): Command => ({
    id: row.id,
    label: row.unicode_name,
    hint: 'Domain',
    icon: 'globe',
    run: () => void navigate({ to: PATHS.domain, params: { id: row.id } }),
  })
  const mailboxCommand = (row: Schema['MailboxRecord']): Command => ({
    id: row.id,
    label: row.address,
    hint: 'Mailbox',
    icon: 'inbox',
    run: () => void navigate({ to: PATHS.mailbox, params: { id: row.id } }),
  })
  const messageCommand = (row: Schema['MessageResponse']): Command => ({
    id: row.id,
    label: row.subject || '(no subject)',
    hint: row.recipients[0]?.address ?? row.from,
    icon: 'mail',
    run: () => void navigate({ to: PATHS.message, params: { id: row.id } }),
  })
  return {
    things: [...(domains.data?.rows ?? []).map(domainCommand), ...(mailboxes.data?.rows ?? []).map(mailboxCommand), ...others],
    messages: typed.length > 2 ? (messages.data?.rows ?? []).map(messageCommand) : [],
  }
}

/**
 * Aliases that hold what was typed in their address or their destinations. The API lists them by domain for who has
 * single domains, for others over all.
 */
function useAliases(q: string, options: { enabled: boolean; staleTime: number }): readonly { row: Schema['AliasRecord']; address: string }[] {
  const account = useAccount()
  const domains = useQuery({ ...domainsQuery(), enabled: options.enabled }).data?.rows
  const scopes: readonly (string | undefined)[] = account.role === 'domain_admin' ? (domains ?? []).slice(0, 20).map((row) => row.id) : [undefined]
  const name = (id: string) => domains?.find((row) => row.id === id)?.unicode_name ?? ''
  const found = useQueries({
    queries: scopes.map((domain_id) => ({
      queryKey: ['aliases', 'palette', domain_id, q],
      queryFn: () => askPage(client.GET('/aliases', { params: { query: { q, limit: 5, ...(domain_id && { domain_id }) } } })),
      enabled: options.enabled,
      staleTime: options.staleTime,
      placeholderData: keepPreviousData,
    })),
  })
  return found
    .flatMap((each) => each.data?.rows ?? [])
    .slice(0, 5)
    .map((row) => ({ row, address: `${row.source_local_part || '(catch-all)'}@${name(row.domain_id)}` }))
}
