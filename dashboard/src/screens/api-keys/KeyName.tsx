import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { apiKeysQuery } from '../../api/lists'
import { useDenialReason } from '../../access/Allowed'
import { PATHS } from '../../paths'
import { ChoiceFilter } from '../../ui/Filters'

/** The keys that the account may see. */
function useKeys() {
  const isDenied = useDenialReason('api_key.list') !== null
  return useQuery({ ...apiKeysQuery(), enabled: !isDenied }).data ?? []
}

/** The name of an API key, with a link to the messages that it has sent; the start of its ID if it is not visible, or revoked. */
export function KeyName({ id }: { id: string }) {
  const name = useKeys().find((each) => each.id === id)?.name
  return (
    <Link to={PATHS.messages} search={{ key: id }}>
      {name ?? `${id.slice(0, 8)}…`}
    </Link>
  )
}

/** A filter by API key. `excludes`: the filters that can't be combined with it. */
export function KeyFilter({ excludes = [] }: { excludes?: readonly string[] }) {
  return (
    <ChoiceFilter name="key" label="API key" excludes={excludes} data={useKeys().map((each) => ({ value: each.id, label: each.name }))} />
  )
}
