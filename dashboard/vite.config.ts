import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { PATHS } from './src/paths.ts'

/** The addresses of the screens, for the server: it answers each with the page. */
function screens(): Plugin {
  return {
    name: 'mailkeep-screens',
    apply: 'build',
    generateBundle() {
      const paths = Object.values(PATHS).map((path) => path.replace(/\$(\w+)/g, '{$1}'))
      this.emitFile({ type: 'asset', fileName: 'screens.json', source: JSON.stringify(paths) })
    },
  }
}

export default defineConfig({
  plugins: [react(), screens()],
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
