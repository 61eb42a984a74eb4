import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { OWNER_PATHS } from './src/me/paths.ts'
import { PATHS } from './src/paths.ts'

/** Writes the paths of the screens for the server, which answers each with its page. */
function screens(): Plugin {
  const pages = { 'index.html': PATHS, 'me.html': OWNER_PATHS }
  const source = Object.entries(pages).map(([page, paths]) => [page, Object.values(paths).map((path) => path.replace(/\$(\w+)/g, '{$1}'))])
  return {
    name: 'mailkeep-screens',
    configureServer({ middlewares }) {
      middlewares.use((request, _response, next) => {
        if (/^\/me([/?]|$)/.test(request.url ?? '')) request.url = '/me.html'
        next()
      })
    },
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'screens.json', source: JSON.stringify(Object.fromEntries(source)) })
    },
  }
}

/** `--mode owners` builds the page for mailbox owners: apart, so that it loads nothing of the dashboard. */
export default defineConfig(({ mode }) => ({
  plugins: [react(), screens()],
  server: { proxy: { '/api': process.env['MAILKEEP_URL'] ?? 'http://127.0.0.1:8080' } },
  test: { include: ['src/**/*.test.ts'], setupFiles: 'src/test-setup.ts' },
  build: {
    outDir: 'node_modules/.built',
    emptyOutDir: mode !== 'owners',
    target: 'es2022',
    // Inlined assets would be `data:` URLs, which the content security policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rollupOptions: { input: mode === 'owners' ? 'me.html' : 'index.html' },
  },
}))
