import { Allowed } from '../../access/Allowed'
import { PATHS } from '../../paths'
import { Icon } from '../../ui/Icon'
import { LinkButton } from '../../ui/links'

/** Leads to the form of a new message, for who may send. */
export function SendButton() {
  return (
    <Allowed action="send">
      <LinkButton to={PATHS.send} leftSection={<Icon name="send" size={16} />}>
        Send
      </LinkButton>
    </Allowed>
  )
}
