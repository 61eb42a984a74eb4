/** The ETags of objects as last received, by path below the API's prefix. */
const tags = new Map<string, string>()

/** Remembers the ETag of a response that is about the object of its path. */
export function rememberVersion(request: Request, response: Response): void {
  const tag = response.headers.get('etag')
  if (tag && request.method !== 'POST') tags.set(new URL(request.url).pathname.replace(/^\/api\/v1/, ''), tag)
}

/** The last received ETag of the object at this path. */
export function versionOf(path: string): string | undefined {
  return tags.get(path)
}
