import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { providersQuery } from '../../api/queries'
import { Badge } from '../../ui/Badge'
import { ConfirmDelete } from '../../ui/Confirm'
import { Section } from '../../ui/Page'

/** The linked identity of the account; nothing without providers. */
export function IdentityProvider({ account }: { account: Schema['OwnAccount'] }) {
  const { data } = useQuery(providersQuery())
  const [isConfirming, setConfirming] = useState(false)
  if (!data?.length && !account.oidc_provider) return null
  const linked = data?.find((provider) => provider.id === account.oidc_provider)
  return (
    <Section
      title="Identity provider"
      lead="Sign in with an account of an identity provider."
      actions={account.oidc_provider ? <Badge tone="good">{linked?.name ?? account.oidc_provider}</Badge> : <Badge>not linked</Badge>}
    >
      <Group>
        {account.oidc_provider ? (
          <Button variant="light" color="red" onClick={() => setConfirming(true)}>
            Disconnect
          </Button>
        ) : (
          data?.map((provider) => (
            <Button
              key={provider.id}
              component="a"
              variant="default"
              href={`${provider.login_path}?link=1&next=${encodeURIComponent('/account')}`}
            >
              Link {provider.name}
            </Button>
          ))
        )}
      </Group>
      <ConfirmDelete
        opened={isConfirming}
        onClose={() => setConfirming(false)}
        title="Disconnect identity"
        action="Disconnect"
        request={() => fetchData(client.DELETE('/auth/oidc/disconnect'))}
        invalidates={['me', 'sessions']}
        message={(answer) => answer.message}
      >
        You can no longer sign in with {linked?.name ?? 'this identity provider'}, and your other sessions end.
      </ConfirmDelete>
    </Section>
  )
}
