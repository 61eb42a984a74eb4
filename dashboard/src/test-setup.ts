// Unit tests run in Node. locale.ts reads these two when it is imported.
Object.defineProperty(globalThis, 'document', { value: { documentElement: { lang: 'en' } }, configurable: true })
Object.defineProperty(globalThis, 'navigator', { value: { languages: ['de-DE', 'en-GB'] }, configurable: true })
