import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { PATHS } from './src/paths.ts'

/** Writes the paths of the screens for the server, which answers each with index.html. */
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
  test: { include: ['src/**/*.test.ts'], setupFiles: 'src/test-setup.ts' },
  build: {
    outDir: 'node_modules/.built',
    emptyOutDir: true,
    target: 'es2022',
    // Inlined assets would be `data:` URLs, which the content security policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
})
