import { Junk } from '../screens/filtering/Junk'
import { Page } from '../ui/Page'
import { ownFiltering, ownJunk } from './filtering'
import { OWNER_PATHS } from './paths'
import { OwnerLink } from './router'

export default function OwnJunk() {
  return (
    <Page title="Junk" lead="Mail that the spam filter kept out of your inbox, and why.">
      <Junk
        requests={ownJunk}
        filtering={ownFiltering}
        action="filter.write"
        explain={(id) => <OwnerLink href={`${OWNER_PATHS.spam}?view=test&message=${id}`}>Why?</OwnerLink>}
      />
    </Page>
  )
}
