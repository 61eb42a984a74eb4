// Puts what was built where the server reads it, in one move: a server that starts meanwhile finds all of it.
import { renameSync, rmSync } from 'node:fs'

const place = new URL('../../mailkeep/web/dashboard_page', import.meta.url).pathname
rmSync(`${place}.old`, { recursive: true, force: true })
try {
  renameSync(place, `${place}.old`)
} catch (error) {
  if (error.code !== 'ENOENT') throw error
}
renameSync(new URL('../node_modules/.built', import.meta.url).pathname, place)
rmSync(`${place}.old`, { recursive: true, force: true })
