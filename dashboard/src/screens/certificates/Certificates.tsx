import { Button, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { Allowed } from '../../access/Allowed'
import { SiblingTabs } from '../../layout/Navigation'
import { PATHS } from '../../paths'
import { Badge, type Tone } from '../../ui/Badge'
import { ConfirmDelete } from '../../ui/Confirm'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'

type Certificate = Schema['CertificateRecord']
interface Change {
  certificate: Certificate
  kind: 'renew' | 'revoke'
}

export function Certificates() {
  const [change, setChange] = useState<Change | null>(null)
  const close = () => setChange(null)
  const lead = 'Certificates prove to mail programs, other servers and browsers that they reached this server.'
  return (
    <Page title="Certificates" lead={lead}>
      <SiblingTabs screen="domains" label="DNS" first="Domains" />
      <DataList
        label="Certificates"
        queryKey={['certificates', 'list']}
        load={(page) => fetchPage(client.GET('/certificates', { params: { query: { ...page, sort: page.sort as 'name' } } }))}
        columns={columns(setChange)}
        rowKey={(row) => row.id}
        empty={
          <EmptyState icon="shield" title="No certificates">
            The full profile has a certificate for the server, and with the setting acme.enabled one for each domain.
          </EmptyState>
        }
      />
      {change?.kind === 'renew' && <Renew certificate={change.certificate} onClose={close} />}
      {change?.kind === 'revoke' && <Revoke certificate={change.certificate} onClose={close} />}
    </Page>
  )
}

function nameOf(certificate: Certificate): string {
  return certificate.name === 'server' ? 'this server' : certificate.name
}

function stateOf(row: Certificate): { tone: Tone; text: string } {
  if (row.being_revoked) return { tone: 'warn', text: 'being revoked' }
  if (row.failures > 0) return { tone: 'bad', text: row.source === 'acme' ? 'renewal fails' : 'not issued' }
  if (row.not_after && Date.parse(row.not_after) <= Date.now()) return { tone: 'bad', text: 'expired' }
  if (row.source === 'acme') return { tone: 'good', text: 'valid' }
  if (row.source === 'file') return { tone: 'info', text: 'own file' }
  if (row.source === 'self_signed') return { tone: 'warn', text: 'self-signed' }
  return { tone: 'calm', text: 'none yet' }
}

function Problems({ row }: { row: Certificate }) {
  const failed = row.checks.filter((check) => check.status === 'failed').map((check) => check.problem)
  const found = [...new Set([row.problem, ...failed])].filter(Boolean)
  if (row.source === 'self_signed' && !row.managed)
    found.push('Mail programs do not trust it: set acme.enabled, or tls.certificate_file and tls.key_file.')
  return found.map((text) => (
    <div key={text} className="muted break">
      {text}
    </div>
  ))
}

function columns(onChange: (change: Change) => void): readonly Column<Certificate>[] {
  return [
    {
      header: 'Certificate of',
      cell: (row) =>
        row.domain_id ? (
          <Link to={PATHS.domain} params={{ id: row.domain_id }} className="strong break">
            {row.name}
          </Link>
        ) : (
          <span className="strong">This server</span>
        ),
    },
    {
      header: 'Names',
      cell: (row) => (
        <div className="reason">
          <div className="break">{row.names.join(', ')}</div>
          {row.issuer && <div className="muted break">Issued by {row.issuer}</div>}
          <Problems row={row} />
        </div>
      ),
    },
    {
      header: 'State',
      cell: (row) => {
        const { tone, text } = stateOf(row)
        return <Badge tone={tone}>{text}</Badge>
      },
    },
    { header: 'Expires', cell: (row) => row.not_after && <Time at={row.not_after} /> },
    { header: 'Renewal', cell: (row) => row.renew_at && <Time at={row.renew_at} /> },
    {
      header: '',
      align: 'right',
      cell: (row) =>
        row.managed && (
          <Allowed action="certificate.write">
            <Group gap="xs" wrap="nowrap" justify="flex-end">
              <Button
                size="xs"
                variant="default"
                onClick={() => onChange({ certificate: row, kind: 'renew' })}
                aria-label={`Renew certificate of ${nameOf(row)}`}
              >
                Renew
              </Button>
              {row.source === 'acme' && !row.being_revoked && (
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => onChange({ certificate: row, kind: 'revoke' })}
                  aria-label={`Revoke certificate of ${nameOf(row)}`}
                >
                  Revoke
                </Button>
              )}
            </Group>
          </Allowed>
        ),
    },
  ]
}

function Renew({ certificate, onClose }: { certificate: Certificate; onClose: () => void }) {
  return (
    <ConfirmDelete
      opened
      onClose={onClose}
      title="Renew certificate"
      action="Renew"
      request={() => fetchData(client.POST('/certificates/{id}/renew', { params: { path: { id: certificate.id } }, body: {} }))}
      invalidates={['certificates']}
      message={`The certificate of ${nameOf(certificate)} is being renewed.`}
    >
      A new certificate of <strong className="break">{nameOf(certificate)}</strong> is ordered now, if its names lead here. Open sessions
      are not interrupted. Authorities limit how often this is possible.
    </ConfirmDelete>
  )
}

function Revoke({ certificate, onClose }: { certificate: Certificate; onClose: () => void }) {
  return (
    <ConfirmDelete
      opened
      onClose={onClose}
      title="Revoke certificate"
      action="Replace and revoke"
      request={() =>
        fetchData(
          client.POST('/certificates/{id}/revoke', {
            params: { path: { id: certificate.id } },
            body: { reason: 'key_compromise', at_once: false },
          }),
        )
      }
      invalidates={['certificates']}
      message={`The certificate of ${nameOf(certificate)} is being replaced and revoked.`}
    >
      If others may know its private key: the certificate of <strong className="break">{nameOf(certificate)}</strong> is replaced by one
      with another key, and then revoked. This can’t be undone.
    </ConfirmDelete>
  )
}
