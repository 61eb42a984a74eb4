import { serverFiltering } from '../../api/filteringRequests'
import { DetailTabs } from '../../ui/DetailTabs'
import { Page } from '../../ui/Page'
import { Entries } from './Entries'
import { FilteringSettings } from './SettingsForm'
import { TestMessage } from './TestMessage'

const ACTION = 'filter_server.write'

/** The server's thresholds and lists. */
export function Filtering() {
  return (
    <Page title="Filtering" lead="What happens to incoming mail by its spam score and its sender. Domains and mailboxes can override it.">
      <DetailTabs
        tabs={[
          { value: 'settings', label: 'Settings', content: <FilteringSettings requests={serverFiltering} action={ACTION} /> },
          { value: 'list', label: 'Allow and deny list', content: <Entries requests={serverFiltering} action={ACTION} /> },
          { value: 'test', label: 'Test a message', content: <TestMessage requests={serverFiltering} /> },
        ]}
      />
    </Page>
  )
}
