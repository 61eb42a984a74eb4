import { Button } from '@mantine/core'
import { Allowed } from '../../access/Allowed'
import type { BulkResource } from '../../api/operations'
import { PATHS } from '../../paths'
import { Icon } from '../../ui/Icon'
import { LinkButton } from '../../ui/links'

const LISTS = {
  mailbox: { path: '/api/v1/mailboxes/export', to: PATHS.mailboxImport, action: 'mailbox.bulk' },
  alias: { path: '/api/v1/aliases/export', to: PATHS.aliasImport, action: 'alias.bulk' },
} as const

/** Import and export of a list. */
export function ListActions({ resource, domain }: { resource: BulkResource; domain?: string }) {
  const list = LISTS[resource]
  return (
    <>
      <Allowed action={list.action}>
        <LinkButton to={list.to} variant="default">
          Import
        </LinkButton>
      </Allowed>
      <Button
        component="a"
        href={domain ? `${list.path}?domain_id=${domain}` : list.path}
        download
        variant="default"
        leftSection={<Icon name="down_load" size={16} />}
      >
        Export
      </Button>
    </>
  )
}
