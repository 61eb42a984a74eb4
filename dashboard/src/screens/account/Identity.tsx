import { Button, Group } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, client, type Schema } from '../../api/client'
import { Badge } from '../../ui/Badge'
import { Confirm } from '../../ui/Confirm'
import { useChange } from '../../ui/form'
import { Section } from '../../ui/Page'

/** Where people can sign in with an account of another service. */
export function providersQuery() {
  return queryOptions({ queryKey: ['providers'], queryFn: () => ask(client.GET('/auth/oidc/providers')), retry: false, staleTime: Infinity })
}

/** The account's identity at a provider; nothing where there are no providers. */
export function Identity({ account }: { account: Schema['OwnAccount'] }) {
  const { data } = useQuery(providersQuery())
  const [isAsked, setAsked] = useState(false)
  const disconnect = useChange({
    change: () => ask(client.DELETE('/auth/oidc/disconnect')),
    refreshes: ['me', 'sessions'],
    told: (answer) => answer.message,
    then: () => setAsked(false),
  })
  if (!data?.length && !account.oidc_provider) return null
  const linked = data?.find((provider) => provider.id === account.oidc_provider)
  return (
    <Section
      title="Identity provider"
      lead="Log in with an account that you have elsewhere."
      actions={account.oidc_provider ? <Badge tone="good">{linked?.name ?? account.oidc_provider}</Badge> : <Badge>not linked</Badge>}
    >
      <Group>
        {account.oidc_provider ? (
          <Button variant="light" color="red" onClick={() => setAsked(true)}>
            Disconnect
          </Button>
        ) : (
          data?.map((provider) => (
            <Button key={provider.id} component="a" variant="default" href={`${provider.login_path}?link=1&next=${encodeURIComponent('/account')}`}>
              Link {provider.name}
            </Button>
          ))
        )}
      </Group>
      <Confirm opened={isAsked} onClose={() => setAsked(false)} title="Disconnect the identity" action="Disconnect" busy={disconnect.isPending} error={disconnect.error} onConfirm={() => disconnect.mutate(undefined)}>
        It lets you in no more, and your other sessions end.
      </Confirm>
    </Section>
  )
}
