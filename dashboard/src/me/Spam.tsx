import { ownFiltering } from '../api/filteringRequests'
import { FilteringViews } from '../screens/filtering/FilteringViews'
import { Page } from '../ui/Page'

export default function Spam() {
  return (
    <Page title="Spam filter" lead="From which score on mail is junk, and whose mail you always or never want.">
      <FilteringViews requests={ownFiltering} action="mailbox.write" />
    </Page>
  )
}
