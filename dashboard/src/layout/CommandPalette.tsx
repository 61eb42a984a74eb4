import { Modal, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight, useSpotlight } from '@mantine/spotlight'
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useAccount, useUnavailableReason } from '../access/account'
import { denialReason } from '../access/policy'
import { client, fetchPage, type Schema } from '../api/client'
import { adminsQuery, apiKeysQuery, webhooksQuery } from '../api/lists'
import { NAVIGATION } from '../navigation'
import { PATHS } from '../paths'
import { domainsQuery } from '../screens/domains/DomainSelect'
import { Icon, type IconName } from '../ui/Icon'
import { useSignOut } from '../ui/useSignOut'

interface Command {
  id: string
  label: string
  hint?: string
  icon: IconName
  keywords?: string
  run: () => void
}

const LIST_ID = 'command-palette-list'
const [store, actions] = createSpotlight()

export const openCommandPalette = actions.open

/** Opens any screen, finds objects by name, and runs commands. */
export function CommandPalette() {
  const { query } = useSpotlight(store)
  return (
    <Spotlight.Root
      store={store}
      shortcut={null}
      size="lg"
      yOffset="12vh"
      maxHeight="26rem"
      scrollable
      lockScroll={false}
      overlayProps={{ blur: 0 }}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Title className="visually-hidden">Search</Modal.Title>
      <Commands text={query.trim()} />
    </Spotlight.Root>
  )
}

/** Spotlight sets no ARIA attributes, so the combobox pattern is completed here. */
function Commands({ text }: { text: string }) {
  const commands = useCommands(text)
  const { selected } = useSpotlight(store)
  const ids = commands.map((command) => command.id).join()
  // Spotlight marks the selected element in the DOM; when results are inserted above it, its position is wrong.
  useEffect(() => {
    const options = document.querySelectorAll(`#${LIST_ID} [data-action]`)
    const position = Math.min(Math.max(0, store.getState().selected), options.length - 1)
    options.forEach((option, index) => option.toggleAttribute('data-selected', index === position))
    store.updateState((state) => ({ ...state, selected: position }))
  }, [ids])
  return (
    <>
      <Spotlight.Search
        role="combobox"
        aria-label="Search screens and objects"
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={LIST_ID}
        aria-activedescendant={commands[selected] && `command-${commands[selected].id}`}
        placeholder="Search screens, objects and commands …"
        leftSection={<Icon name="search" />}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <Spotlight.ActionsList id={LIST_ID} role="listbox" aria-label="Results">
        {commands.map((command, index) => (
          <Spotlight.Action
            key={command.id}
            ref={(node) => void node?.setAttribute('id', `command-${command.id}`)}
            role="option"
            aria-selected={index === selected}
            label={command.label}
            leftSection={<Icon name={command.icon} />}
            rightSection={command.hint}
            onClick={command.run}
          />
        ))}
      </Spotlight.ActionsList>
    </>
  )
}

function useCommands(text: string): readonly Command[] {
  const results = useSearchResults(text)
  const commands = useStaticCommands()
  const navigate = useNavigate()
  const words = text.toLowerCase().split(/\s+/)
  const matching = commands.filter((command) =>
    words.every((word) => `${command.label} ${command.keywords ?? ''}`.toLowerCase().includes(word)),
  )
  if (!text) return matching
  const searches: Command[] = [
    {
      id: 'search-messages',
      label: `Search messages for “${text}”`,
      icon: 'mail',
      run: () => void navigate({ to: PATHS.messages, search: { q: text } }),
    },
  ]
  if (text.includes('@'))
    searches.unshift({
      id: 'routing-test',
      label: `Test routing for ${text}`,
      icon: 'route',
      run: () => void navigate({ to: PATHS.routing, search: { address: text } }),
    })
  return [...matching, ...results.objects, ...searches, ...results.messages]
}

const CREATE = [
  ['New domain', PATHS.domains, 'domain.create'],
  ['New mailbox', PATHS.mailboxes, 'mailbox.write'],
  ['New alias', PATHS.aliases, 'alias.write'],
  ['New API key', PATHS.keys, 'api_key.write'],
  ['New webhook', PATHS.webhooks, 'webhook.write'],
  ['New administrator', PATHS.admins, 'admin.write'],
] as const

/** Screens and commands. */
function useStaticCommands(): readonly Command[] {
  const account = useAccount()
  const unavailableReason = useUnavailableReason()
  const navigate = useNavigate()
  const signOut = useSignOut()
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  const screens = NAVIGATION.flatMap((group) => group.entries)
    .filter((entry) => !unavailableReason(entry))
    .map((entry): Command => ({
      id: entry.screen,
      label: entry.label,
      icon: entry.icon,
      ...(entry.keywords && { keywords: entry.keywords }),
      ...(entry.key && { hint: `g ${entry.key}` }),
      run: () => void navigate({ to: PATHS[entry.screen] }),
    }))
  const create = CREATE.filter(([, , action]) => !denialReason(account, action)).map(([label, to]): Command => ({
    id: label.replaceAll(' ', '-'),
    label,
    icon: 'plus',
    keywords: 'create add',
    run: () => void navigate({ to, search: { new: 'yes' } }),
  }))
  return [
    ...screens,
    ...create,
    { id: 'light', label: 'Light theme', icon: 'sun', run: () => setColorScheme('light') },
    { id: 'dark', label: 'Dark theme', icon: 'moon', run: () => setColorScheme('dark') },
    { id: 'system', label: 'System theme', icon: 'refresh', run: () => setColorScheme('auto') },
    {
      id: 'shortcuts',
      label: 'Keyboard shortcuts',
      icon: 'info',
      keywords: 'keys help',
      run: () => window.dispatchEvent(new Event('mailkeep:shortcuts')),
    },
    { id: 'docs', label: 'API documentation', icon: 'book', keywords: 'reference help', run: () => window.location.assign('/docs') },
    { id: 'sign-out', label: 'Sign out', icon: 'out', keywords: 'log out leave', run: () => signOut.mutate(undefined) },
  ]
}

/** Objects and messages that contain the typed text: a few of each kind that the account may list. */
function useSearchResults(text: string): { objects: readonly Command[]; messages: readonly Command[] } {
  const navigate = useNavigate()
  const account = useAccount()
  const [q] = useDebouncedValue(text, 150)
  const options = { enabled: q.length > 1, placeholderData: keepPreviousData, staleTime: 10_000 } as const
  const domains = useQuery({
    queryKey: ['domains', 'palette', q],
    queryFn: () => fetchPage(client.GET('/domains', { params: { query: { name: q, limit: 5 } } })),
    ...options,
  })
  const mailboxes = useQuery({
    queryKey: ['mailboxes', 'palette', q],
    queryFn: () => fetchPage(client.GET('/mailboxes', { params: { query: { q, limit: 5 } } })),
    ...options,
  })
  const messages = useQuery({
    queryKey: ['messages', 'palette', q],
    queryFn: () => fetchPage(client.GET('/messages', { params: { query: { q, limit: 4 } } })),
    ...options,
    enabled: q.length > 2,
  })
  const aliases = useAliases(q, options)
  const admins = useQuery({ ...adminsQuery(), enabled: options.enabled && !denialReason(account, 'admin.list') })
  const keys = useQuery({ ...apiKeysQuery(), enabled: options.enabled && !denialReason(account, 'api_key.list') })
  const webhooks = useQuery({ ...webhooksQuery(), enabled: options.enabled && !denialReason(account, 'webhook.list') })
  if (text.length < 2) return { objects: [], messages: [] }
  const matching = <Row,>(rows: readonly Row[] | undefined, name: (row: Row) => string) =>
    (rows ?? []).filter((row) => name(row).toLowerCase().includes(q.toLowerCase())).slice(0, 5)
  const command = (id: string, label: string, hint: string, icon: IconName, run: () => unknown): Command => ({
    id,
    label,
    hint,
    icon,
    run: () => void run(),
  })
  return {
    objects: [
      ...(domains.data?.rows ?? []).map(({ id, unicode_name }) =>
        command(id, unicode_name, 'Domain', 'globe', () => navigate({ to: PATHS.domain, params: { id } })),
      ),
      ...(mailboxes.data?.rows ?? []).map(({ id, address }) =>
        command(id, address, 'Mailbox', 'inbox', () => navigate({ to: PATHS.mailbox, params: { id } })),
      ),
      ...aliases.map(({ row, address }) =>
        command(row.id, address, 'Alias', 'branch', () => navigate({ to: PATHS.aliases, search: { domain: row.domain_id, edit: row.id } })),
      ),
      ...matching(webhooks.data, (row) => row.url).map(({ id, url }) =>
        command(id, url, 'Webhook', 'hook', () => navigate({ to: PATHS.webhook, params: { id } })),
      ),
      ...matching(keys.data, (row) => `${row.name} ${row.key_prefix}`).map(({ id, name }) =>
        command(id, name, 'API key', 'key', () => navigate({ to: PATHS.keys })),
      ),
      ...matching(admins.data, (row) => row.email).map(({ id, email }) =>
        command(id, email, 'Administrator', 'people', () => navigate({ to: PATHS.admins })),
      ),
    ],
    messages:
      text.length > 2
        ? (messages.data?.rows ?? []).map(({ id, subject, recipients, from }) =>
            command(id, subject || '(no subject)', recipients[0]?.address ?? from, 'mail', () =>
              navigate({ to: PATHS.message, params: { id } }),
            ),
          )
        : [],
  }
}

/**
 * Aliases whose address or destinations contain the typed text. The API requires a domain from domain administrators
 * and lists over all domains for others.
 */
function useAliases(
  q: string,
  options: { enabled: boolean; staleTime: number },
): readonly { row: Schema['AliasRecord']; address: string }[] {
  const account = useAccount()
  const domains = useQuery({ ...domainsQuery(), enabled: options.enabled }).data?.rows
  const scopes: readonly (string | undefined)[] =
    account.role === 'domain_admin' ? (domains ?? []).slice(0, 20).map((row) => row.id) : [undefined]
  const domainName = (id: string) => domains?.find((row) => row.id === id)?.unicode_name ?? ''
  const results = useQueries({
    queries: scopes.map((domain_id) => ({
      queryKey: ['aliases', 'palette', domain_id, q],
      queryFn: () => fetchPage(client.GET('/aliases', { params: { query: { q, limit: 5, ...(domain_id && { domain_id }) } } })),
      enabled: options.enabled,
      staleTime: options.staleTime,
      placeholderData: keepPreviousData,
    })),
  })
  return results
    .flatMap((each) => each.data?.rows ?? [])
    .slice(0, 5)
    .map((row) => ({ row, address: `${row.source_local_part || '(catch-all)'}@${domainName(row.domain_id)}` }))
}
