/** The screens of the page for mailbox owners. The server answers each path with me.html. */
export const OWNER_PATHS = {
  overview: '/me',
  signIn: '/me/login',
  junk: '/me/junk',
  spam: '/me/spam',
  mail: '/me/mail',
  vacation: '/me/vacation',
  forwarding: '/me/forwarding',
  filters: '/me/filters',
  security: '/me/security',
  appPasswords: '/me/app-passwords',
  device: '/me/device',
} as const

export type OwnerScreen = keyof typeof OWNER_PATHS
