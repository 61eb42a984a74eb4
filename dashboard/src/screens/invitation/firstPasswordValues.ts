export interface FirstPasswordValues {
  password: string
  /** Whether the owner sets the password, with a link. */
  invite: boolean
  invite_to: string
}

export const FIRST_PASSWORD: FirstPasswordValues = { password: '', invite: false, invite_to: '' }

/** The part of the request body. */
export function firstPasswordBody({ password, invite, invite_to }: FirstPasswordValues) {
  if (!invite) return { password }
  return { invite: true, ...(invite_to.trim() && { invite_to: invite_to.trim() }) }
}
