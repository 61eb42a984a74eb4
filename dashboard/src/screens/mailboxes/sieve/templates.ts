/** Templates of common filters (RFC 5228), and how they are added to a script. Pure functions. */

export type TemplateKind = 'sender' | 'list' | 'subject' | 'forward' | 'reject'

export interface TemplateValues {
  /** What the rule compares: an address or `@domain`, a list's ID, words of the subject. */
  match: string
  folder: string
  /** Where mail is forwarded to. */
  address: string
  keepCopy: boolean
  /** The reason of a rejection. */
  reason: string
}

interface Rule {
  extensions: readonly string[]
  text: string
}

const string = (text: string) => `"${text.trim().replace(/["\\]/g, '\\$&')}"`

const FILE = ['fileinto', 'mailbox']

const senderTest = ({ match }: TemplateValues) =>
  match.trim().startsWith('@') ? `address :domain :is "from" ${string(match.trim().slice(1))}` : `address :is "from" ${string(match)}`

const fileIf = (test: string, { folder }: TemplateValues): Rule => ({
  extensions: FILE,
  text: `if ${test} {\n  fileinto :create ${string(folder)};\n  stop;\n}`,
})

const RULES: Readonly<Record<TemplateKind, (values: TemplateValues) => Rule>> = {
  sender: (values) => fileIf(senderTest(values), values),
  list: (values) => fileIf(`header :contains "list-id" ${string(values.match)}`, values),
  subject: (values) => fileIf(`header :contains "subject" ${string(values.match)}`, values),
  forward: ({ address, keepCopy }) => ({
    extensions: keepCopy ? ['copy'] : [],
    text: `redirect ${keepCopy ? ':copy ' : ''}${string(address)};`,
  }),
  reject: (values) => ({
    extensions: ['reject'],
    text: `if ${senderTest(values)} {\n  reject ${string(values.reason)};\n  stop;\n}`,
  }),
}

/** The fields that a template needs and that are still empty. */
export function missingFields(kind: TemplateKind, values: TemplateValues): (keyof TemplateValues)[] {
  const needed: Record<TemplateKind, (keyof TemplateValues)[]> = {
    sender: ['match', 'folder'],
    list: ['match', 'folder'],
    subject: ['match', 'folder'],
    forward: ['address'],
    reject: ['match', 'reason'],
  }
  return needed[kind].filter((name) => !String(values[name]).trim())
}

/** The script with the rule of a template at its end, and with the extensions that it needs. */
export function addTemplate(script: string, kind: TemplateKind, values: TemplateValues): string {
  const rule = RULES[kind](values)
  const missing = rule.extensions.filter((name) => !listExtensions(script).includes(name))
  const head = missing.length > 0 ? `require [${missing.map(string).join(', ')}];\n` : ''
  const body = script && !script.endsWith('\n') ? `${script}\n` : script
  return `${head}${body}${rule.text}\n`
}

/** The extensions that a script requires. Each `require` names one or a list. */
function listExtensions(script: string): string[] {
  const statements = script.replace(/^\s*#.*$/gm, '').matchAll(/\brequire\s*(\[[^\]]*\]|"[^"]*")/g)
  return [...statements].flatMap(([, names = '']) => [...names.matchAll(/"([^"]*)"/g)].map(([, name = '']) => name))
}
