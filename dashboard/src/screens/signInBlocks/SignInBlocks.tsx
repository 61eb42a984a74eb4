import { Button } from '@mantine/core'
import { useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { Allowed } from '../../access/Allowed'
import { AbuseTabs } from '../abuse/AbuseTabs'
import { ConfirmDelete } from '../../ui/Confirm'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'

type Block = Schema['SignInBlockResponse']

export function SignInBlocks() {
  const [removed, setRemoved] = useState<Block | null>(null)
  const lead = 'Sign-ins by mail clients and to this dashboard that are refused after many wrong passwords.'
  return (
    <Page title="Sign-in blocks" lead={lead}>
      <AbuseTabs />
      <DataList
        label="Sign-in blocks"
        queryKey={['sign-in-blocks', 'list']}
        load={(page) => fetchPage(client.GET('/sign-in-blocks', { params: { query: { ...page, sort: page.sort as 'created_at' } } }))}
        columns={columns(setRemoved)}
        rowKey={(row) => row.id}
        empty={
          <EmptyState icon="shield" title="No sign-in blocks">
            An address is blocked for an hour after 30 wrong passwords for several accounts, and an account for at most 15 minutes after 10.
            Addresses that have signed in to an account before, and app passwords, are not affected by others.
          </EmptyState>
        }
      />
      {removed && <RemoveBlock block={removed} onClose={() => setRemoved(null)} />}
    </Page>
  )
}

function accountOf(block: Block): string {
  if (!block.account) return 'all accounts'
  return block.account_kind === 'admin' ? `administrator ${block.account}` : block.account
}

function sourceOf(block: Block): string {
  return block.address ?? 'unknown addresses'
}

function columns(onRemove: (row: Block) => void): readonly Column<Block>[] {
  return [
    {
      header: 'From',
      cell: (row) => <span className={row.address ? 'strong party' : 'muted'}>{sourceOf(row)}</span>,
    },
    {
      header: 'Account',
      wide: true,
      cell: (row) => (
        <span className={row.account ? 'strong party' : 'muted'} title={accountOf(row)}>
          {accountOf(row)}
        </span>
      ),
    },
    { header: 'Failures', align: 'right', cell: (row) => row.failures },
    { header: 'Since', cell: (row) => <Time at={row.created_at} form="ago" /> },
    { header: 'Until', cell: (row) => <Time at={row.until} form="exact" /> },
    {
      header: '',
      align: 'right',
      cell: (row) => (
        <Allowed action="sign_in_block.remove">
          <Button
            size="xs"
            variant="default"
            onClick={() => onRemove(row)}
            aria-label={`Remove block of ${accountOf(row)} from ${sourceOf(row)}`}
          >
            Remove
          </Button>
        </Allowed>
      ),
    },
  ]
}

function RemoveBlock({ block, onClose }: { block: Block; onClose: () => void }) {
  return (
    <ConfirmDelete
      opened
      onClose={onClose}
      title="Remove sign-in block"
      action="Remove"
      request={() => fetchData(client.DELETE('/sign-in-blocks/{id}', { params: { path: { id: block.id } } }))}
      invalidates={['sign-in-blocks']}
      message={`The block of ${accountOf(block)} was removed.`}
    >
      Sign-ins to <strong className="break">{accountOf(block)}</strong> from <strong className="break">{sourceOf(block)}</strong> are
      possible again, and the wrong passwords so far are forgotten.
    </ConfirmDelete>
  )
}
