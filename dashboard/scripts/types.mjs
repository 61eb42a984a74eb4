// Reads the OpenAPI document from standard input and writes its TypeScript types. Examples are removed: the types don't
// need them.
import { text } from 'node:stream/consumers'
import openapiTS, { astToString } from 'openapi-typescript'

const document = JSON.parse(await text(process.stdin))

// `isFields`: the node has the fields of an object, and one of them may be named `example`.
function withoutExamples(node, isFields = false) {
  if (Array.isArray(node)) return node.map((each) => withoutExamples(each))
  if (node === null || typeof node !== 'object') return node
  const kept = Object.entries(node).filter(([name]) => isFields || (name !== 'examples' && name !== 'example'))
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutExamples(value, name === 'properties' && !isFields)]))
}

const ast = await openapiTS(withoutExamples(document), {
  alphabetize: true,
  defaultNonNullable: false,
  emptyObjectsUnknown: true,
})
process.stdout.write('// Generated from docs/reference/openapi.json by `make generate`; change the API instead.\n' + astToString(ast))
