// Compresses the build and moves it into place with a rename, so that a starting server finds complete files.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const built = new URL('../node_modules/.built', import.meta.url).pathname
const place = new URL('../../mailkeep/web/dashboard_page', import.meta.url).pathname

for (const name of readdirSync(`${built}/assets`)) {
  if (!/\.(js|css)$/.test(name)) continue
  const file = `${built}/assets/${name}`
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
}
rmSync(`${place}.old`, { recursive: true, force: true })
try {
  renameSync(place, `${place}.old`)
} catch (error) {
  if (error.code !== 'ENOENT') throw error
}
renameSync(built, place)
rmSync(`${place}.old`, { recursive: true, force: true })
