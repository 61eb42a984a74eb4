/** What the owner of a mailbox can do about an error, where the advice for administrators does not apply. */
export const OWNER_ADVICE: Readonly<Record<string, string>> = {
  INVALID_CREDENTIALS: 'App passwords do not work here.',
  FORBIDDEN: 'Ask the administrator of your mail.',
  INTERNAL_ERROR: 'Send the request ID below to the administrator of your mail.',
  INVALID_PAGINATION: 'Reload the list.',
  DOMAIN_INACTIVE: 'Ask the administrator of your mail.',
  MAILBOX_SUSPENDED: 'Ask the administrator of your mail.',
}
