import { useSearchParams } from '../../search'
import { DomainSelect } from './DomainSelect'

/** Filters by domain. `implied`: the default domain of a list that always needs one. */
export function DomainFilter({ name = 'domain', implied }: { name?: string; implied?: string | null }) {
  const [params, change] = useSearchParams()
  const isFree = implied === undefined
  return (
    <DomainSelect
      className="filter"
      aria-label="Domain"
      placeholder={isFree ? 'All domains' : 'Domain'}
      value={params[name] ?? implied ?? null}
      onChange={(value) => change({ [name]: value ?? undefined })}
      clearable={isFree}
      allowDeselect={isFree}
    />
  )
}
