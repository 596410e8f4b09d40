// The error codes that a function and its callees throw, read from the source.
// Calls through the context (`actors.send`, `observe.disks`) are not followed.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'

interface Known {
  codes: Set<string>
  /** All identifiers in it, some of which are functions. */
  names: Set<string>
}

interface File {
  functions: Map<string, Known>
  /** Local name to file and exported name. */
  imports: Map<string, [path: string, name: string]>
}

type Node = { type: string; start: number; end: number } & Record<string, unknown>

const home = fileURLToPath(new URL('../../..', import.meta.url))
const files = new Map<string, File>()

/** The functions that declare routes, with what they add to the path. */
const declarers: Record<string, [method: string, ...suffixes: string[]]> = {
  get: ['GET', ''],
  post: ['POST', ''],
  put: ['PUT', ''],
  patch: ['PATCH', ''],
  del: ['DELETE', ''],
  recordRoutes: ['GET', '', '/history', '/why', '/logs'],
}

/** The codes that the routes in a folder throw, by method and path. */
export function codesByRoute(folder: string): Map<string, Set<string>> {
  const codes = new Map<string, Set<string>>()
  for (const name of readdirSync(join(home, folder))) {
    const path = `${folder}/${name}`
    const { program } = parseSync(path, readFileSync(join(home, path), 'utf8'))
    new Visitor({
      CallExpression(call) {
        const [first] = call.arguments
        const declarer = call.callee.type === 'Identifier' ? declarers[call.callee.name] : undefined
        if (!declarer || first?.type !== 'Literal') return
        const [method, ...suffixes] = declarer
        const thrown = codesOf(path, known(call as unknown as Node), new Set())
        for (const suffix of suffixes) codes.set(`${method} /api/v1${first.value}${suffix}`, thrown)
      },
    }).visit(program)
  }
  return codes
}

function codesThrownBy(path: string, name: string, seen: Set<string>): Set<string> {
  const key = `${path}#${name}`
  const known = seen.has(key) ? undefined : fileAt(path).functions.get(name)
  seen.add(key)
  return known ? codesOf(path, known, seen) : new Set()
}

function codesOf(path: string, { codes: own, names }: Known, seen: Set<string>): Set<string> {
  const codes = new Set(own)
  for (const called of names) {
    const [file, original] = fileAt(path).imports.get(called) ?? [path, called]
    for (const code of codesThrownBy(file, original, seen)) codes.add(code)
  }
  return codes
}

function fileAt(path: string): File {
  const known = files.get(path)
  if (known) return known
  const file = read(path)
  files.set(path, file)
  return file
}

function read(path: string): File {
  const { body } = parseSync(path, readFileSync(join(home, path), 'utf8')).program
  const file: File = { functions: new Map(), imports: new Map() }
  for (const statement of body as unknown as Node[]) {
    if (statement.type === 'ImportDeclaration') addImports(file, path, statement)
    const declared = (statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement) as Node
    if (declared?.type === 'FunctionDeclaration') file.functions.set(nameOf(declared.id), known(declared))
    if (declared?.type !== 'VariableDeclaration') continue
    for (const one of declared.declarations as Node[]) file.functions.set(nameOf(one.id), known(one))
  }
  return file
}

function addImports(file: File, path: string, { source, specifiers, importKind }: Node): void {
  const from = String((source as { value: string }).value)
  if (!from.startsWith('.') || importKind === 'type') return
  const target = posix.normalize(posix.join(dirname(path), from))
  for (const { type, imported, local } of specifiers as Node[])
    if (type === 'ImportSpecifier') file.imports.set(nameOf(local), [target, nameOf(imported)])
}

function known(node: Node): Known {
  const found: Known = { codes: new Set(), names: new Set() }
  new Visitor({
    Identifier: ({ name }) => void found.names.add(name),
    NewExpression({ callee, arguments: [first] }) {
      const isFailure = callee.type === 'Identifier' && /^(Failure|RetryLater)$/.test(callee.name)
      if (isFailure && first?.type === 'Literal') found.codes.add(String(first.value))
    },
  }).visit({ type: 'Program', body: [node], sourceType: 'module' } as never)
  return found
}

function nameOf(node: unknown): string {
  return String((node as { name?: string } | null)?.name ?? '')
}
