import type { Schema } from '../../api/client'

export type BounceClass = NonNullable<Schema['MessageRecipientResponse']['class']>

/** What each class means for the sender, and what to do about it. */
export const BOUNCE_CLASSES: Readonly<Record<BounceClass, string>> = {
  invalid_recipient: 'The address does not exist at the recipient’s server. Check it for typing errors.',
  mailbox_disabled: 'The mailbox exists but is disabled, so it accepts no mail.',
  bad_domain: 'The domain of the address does not exist or accepts no mail. Check it for typing errors.',
  mailbox_full: 'The recipient’s mailbox is full. Try again when the recipient has made room.',
  rate_limited: 'The recipient’s server accepts less mail from this server at a time. Send more slowly.',
  greylisted: 'The recipient’s server delays mail from senders it does not know yet. A later attempt usually succeeds.',
  reputation: 'The recipient’s server does not trust this server’s address or the domain. Check whether they are on a block list.',
  content: 'The recipient’s filter considers the content spam or dangerous. Change the text, the links or the attachments.',
  auth: 'The sender was not authenticated. Check SPF, DKIM, DMARC and the reverse DNS name of the server.',
  policy: 'A rule of the recipient’s server does not allow the message.',
  too_large: 'The message is larger than the recipient’s server accepts.',
  relay_denied: 'The server does not accept mail for this domain from here. Check the MX records of the domain, or the relay.',
  tls: 'A secure connection to the recipient’s server was not possible.',
  network: 'The recipient’s server could not be reached.',
  expired: 'No server accepted the message in time.',
  unknown: 'The reply does not say why. The recipient’s postmaster may know more.',
}

/** The providers that the server knows. */
export const PROVIDERS: Readonly<Record<string, string>> = {
  google: 'Google',
  microsoft: 'Microsoft',
  yahoo: 'Yahoo',
  apple: 'Apple',
  proofpoint: 'Proofpoint',
  mimecast: 'Mimecast',
  united_internet: 'GMX, WEB.DE or IONOS',
  t_online: 'T-Online',
  orange: 'Orange',
  proton: 'Proton',
  fastmail: 'Fastmail',
  zoho: 'Zoho',
  yandex: 'Yandex',
  mail_ru: 'Mail.ru',
  tencent: 'Tencent',
  comcast: 'Comcast',
  ovh: 'OVHcloud',
}

/** The choices of a filter by provider. */
export const PROVIDER_CHOICES = [
  ...Object.entries(PROVIDERS).map(([value, label]) => ({ value, label })),
  { value: 'other', label: 'Others' },
]

/** The name of a known provider; undefined for others. */
export function providerName(provider: string | null): string | undefined {
  return provider === null ? undefined : PROVIDERS[provider]
}
