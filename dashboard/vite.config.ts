import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { PATHS } from './src/paths.ts'

/** What the server reads beside the assets: the addresses of the screens, and each compressible asset in gzip. */
function served(): Plugin {
  return {
    name: 'mailkeep-served',
    apply: 'build',
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        const source = file.type === 'chunk' ? file.code : file.source
        if (!/\.(js|css)$/.test(file.fileName)) continue
        this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gzipSync(source, { level: 9 }) })
      }
      const screens = Object.values(PATHS).map((path) => path.replace(/\$(\w+)/g, '{$1}'))
      this.emitFile({ type: 'asset', fileName: 'screens.json', source: JSON.stringify(screens) })
    },
  }
}

export default defineConfig({
  plugins: [react(), served()],
  server: { proxy: { '/api': process.env['MAILKEEP_URL'] ?? 'http://127.0.0.1:8080' } },
  build: {
    outDir: 'node_modules/.built',
    emptyOutDir: true,
    target: 'es2022',
    // An inlined image or script would be a `data:` address, which the policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
})
