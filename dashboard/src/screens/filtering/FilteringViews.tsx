import { SegmentedControl } from '@mantine/core'
import type { Action } from '../../access/policy'
import type { FilteringRequests } from '../../api/filteringRequests'
import { useSearchParams } from '../../search'
import { Entries } from './Entries'
import { FilteringSettings } from './SettingsForm'
import { TestMessage } from './TestMessage'

const VIEWS = [
  { value: 'settings', label: 'Settings' },
  { value: 'list', label: 'Allow and deny' },
  { value: 'test', label: 'Test' },
]

/** Settings, list and test of a domain or a mailbox. The query parameter `view` selects one. */
export function FilteringViews(props: { requests: FilteringRequests; action: Action }) {
  const [params, change] = useSearchParams()
  const view = VIEWS.find(({ value }) => value === params['view'])?.value ?? 'settings'
  // What belongs to the view that is left is removed from the URL.
  const others = {
    q: undefined,
    list: undefined,
    kind: undefined,
    sort: undefined,
    order: undefined,
    message: undefined,
    source: undefined,
  }
  return (
    <>
      <div>
        <SegmentedControl
          aria-label="View"
          value={view}
          onChange={(value) => change({ ...others, view: value === 'settings' ? undefined : value })}
          data={VIEWS}
        />
      </div>
      {view === 'list' ? (
        <Entries {...props} />
      ) : view === 'test' ? (
        <TestMessage requests={props.requests} />
      ) : (
        <FilteringSettings {...props} />
      )}
    </>
  )
}
