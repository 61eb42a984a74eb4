import { useQuery } from '@tanstack/react-query'
import { client, fetchData } from '../../api/client'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { withCode } from './withCode'

const TEXTS = {
  off: 'Mailkeep will write these records in a moment.',
  waiting: 'Mailkeep will write these records in a moment.',
  ok: 'Mailkeep writes these records itself. You need not publish them.',
  conflict: 'Mailkeep writes these records, except where somebody else has published another value:',
  error: 'Mailkeep can’t write these records:',
}

/** Whether Mailkeep has written the records of a domain with managed records, and why not. */
export function ManagedRecords({ domainId }: { domainId: string }) {
  const { data, error } = useQuery({
    queryKey: ['dns', 'updates', domainId],
    queryFn: () => fetchData(client.GET('/domains/{id}/dns-updates', { params: { path: { id: domainId } } })),
    refetchInterval: 15_000,
  })
  if (!data) return error ? <ErrorNote error={error} /> : null
  const problems = [
    data.problem,
    ...data.records.filter((each) => each.state === 'conflict').map((each) => `${each.name}: ${each.problem}`),
  ]
  const isWrong = data.state === 'error' || data.state === 'conflict'
  return (
    <div className={isWrong ? 'note note-warn' : 'note'}>
      {isWrong && <Icon name="warn" />}
      <div>
        <p className="note-title">{TEXTS[data.state]}</p>
        {problems.filter(Boolean).map((problem) => (
          <p key={problem} className="break">
            {withCode(problem)}
          </p>
        ))}
      </div>
    </div>
  )
}
