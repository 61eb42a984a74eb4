/** Letters and digits without those that look alike. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const LENGTH = 20

/** A random password of 20 characters (116 bits), made in the browser. */
export function generatePassword(): string {
  const limit = 256 - (256 % ALPHABET.length) // a byte from here on would favour the first characters
  let password = ''
  while (password.length < LENGTH) {
    const bytes = crypto.getRandomValues(new Uint8Array(2 * LENGTH))
    for (const byte of bytes) if (byte < limit && password.length < LENGTH) password += ALPHABET.charAt(byte % ALPHABET.length)
  }
  return password
}
