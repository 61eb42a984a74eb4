import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useDenialReason } from '../../access/Allowed'
import { client, fetchData } from '../../api/client'
import { PATHS } from '../../paths'
import { Icon } from '../../ui/Icon'
import { Time } from '../../ui/Time'
import { pluralize } from '../../units'

/** The page that is asked for; blocks of single accounts end within 15 minutes. */
const LIMIT = 200

/** Says that the owner of a mailbox can't sign in, for now, after wrong passwords. For those who may see blocks. */
export function SignInBlockNote({ address }: { address: string }) {
  const mayList = useDenialReason('sign_in_block.list') === null
  const { data } = useQuery({
    queryKey: ['sign-in-blocks', 'of mailbox'],
    queryFn: () => fetchData(client.GET('/sign-in-blocks', { params: { query: { limit: LIMIT } } })),
    enabled: mayList,
  })
  const block = data?.find((each) => each.account_kind === 'mailbox' && each.account === address)
  if (!block) return null
  return (
    <div className="note note-warn" role="status">
      <Icon name="warn" />
      <div>
        <p className="note-title">Sign-ins with a password are refused until {<Time at={block.until} form="exact" />}</p>
        <p>
          After {pluralize(block.failures, 'wrong password')}, from {block.address ?? 'addresses that have never signed in to this mailbox'}
          . App passwords still work. <Link to={PATHS.signInBlocks}>View sign-in blocks</Link>
        </p>
      </div>
    </div>
  )
}
