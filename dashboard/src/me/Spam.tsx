import { FilteringViews } from '../screens/filtering/FilteringViews'
import { Page } from '../ui/Page'
import { ownFiltering } from './filtering'

export default function Spam() {
  return (
    <Page title="Spam filter" lead="From which score on mail is junk, and whose mail you always or never want.">
      <FilteringViews requests={ownFiltering} action="filter.write" />
    </Page>
  )
}
