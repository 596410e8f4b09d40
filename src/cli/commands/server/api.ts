// `berth api`: any call of the API, for scripts and for functions without a command.
import { incompleteResponse, type Query, readBody } from '../../client/client.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { CliFailure, usageFailure } from '../../failure.ts'
import { collect } from '../../service/setting-flags.ts'
import { plain } from '../../terminal/output.ts'
import { openFile, readFileOrInput } from '../../terminal/standard-input.ts'

/** The limit for buffering an incomplete line of a stream. */
const maxLineChars = 1024 * 1024
const maxBodyMib = 64

interface ApiOptions {
  field?: string[]
  typedField?: string[]
  input?: string
}

export function addApiCommands(program: BerthCommand): void {
  program
    .command('api')
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'below /api/v1, such as /services')
    .description("call the server's API and print the response")
    .option(
      '-f, --field <key=value>',
      'a text field of the body, or of the query of a GET; can be repeated',
      collect,
    )
    .option('-F, --typed-field <key=json>', 'the same with a JSON value', collect)
    .option('--input <file>', 'the body from a file; - is stdin')
    .examples(
      'berth api GET /services',
      'berth api GET /services/shop/deploys -f limit=3',
      'berth api PATCH /services/shop -F instances=2 -f health_check_path=/healthz',
      'berth api GET /events   # the change feed, until Ctrl-C',
    )
    .runs(callApi)
}

async function callApi(cli: Cli, givenMethod: string, givenPath: string, options: ApiOptions): Promise<void> {
  const method = givenMethod.toUpperCase()
  const fields = parseFields(options)
  const isQuery = method === 'GET' || method === 'DELETE' || options.input !== undefined
  const hasBody = !isQuery && Object.keys(fields).length > 0
  const response = await cli.client.open(method, pathOf(givenPath), {
    ...(isQuery ? { query: toQuery(fields) } : {}),
    ...(hasBody ? { body: JSON.stringify(fields), headers: { 'content-type': 'application/json' } } : {}),
    ...(options.input === undefined ? {} : await readInput(cli, options.input)),
  })
  await printResponse(cli, response).catch((error: unknown) => {
    throw cli.signal.aborted || error instanceof CliFailure ? error : incompleteResponse(cli.client.url)
  })
}

function pathOf(path: string): string {
  return `/${path.replace(/^\/?(api\/v1)?\/?/, '')}`
}

function parseFields({ field = [], typedField = [] }: ApiOptions): Record<string, unknown> {
  const texts = field.map(parsePair)
  const typed = typedField.map(parsePair).map(([key, text]) => [key, parseValue(key, text)] as const)
  return Object.fromEntries([...texts, ...typed])
}

function parsePair(word: string): [string, string] {
  const at = word.indexOf('=')
  if (at < 1) throw usageFailure('write a field as key=value')
  return [word.slice(0, at), word.slice(at + 1)]
}

function parseValue(key: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usageFailure(`the value of ${key} is not JSON`, 'for a text, use -f key=value')
  }
}

function toQuery(fields: Record<string, unknown>): Query {
  const texts = Object.entries(fields).map(
    ([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  )
  return Object.fromEntries(texts)
}

/** JSON is sent whole: the server accepts a body without a length only for uploads, which are streamed. */
async function readInput(cli: Cli, path: string) {
  if (!/\.(tgz|gz)$/.test(path)) {
    return {
      body: await readFileOrInput(cli, path, maxBodyMib),
      headers: { 'content-type': 'application/json' },
    }
  }
  const { stream, sizeBytes } = openFile(cli, path)
  return {
    body: stream,
    headers: { 'content-type': 'application/gzip', 'content-length': String(sizeBytes) },
  }
}

// Through a pipe the exact bytes; at a terminal JSON is indented, and control characters are escaped.
async function printResponse({ out, stdout }: Cli, response: Response): Promise<void> {
  if (!response.body) return
  if (!out.isTerminal) {
    for await (const chunk of response.body) stdout.write(chunk)
    return
  }
  const isStream = response.headers.get('content-type')?.includes('event-stream')
  if (isStream) return printLines(out, response.body)
  for (const line of layOut(await readBody(response)).split('\n')) out.print(plain(line))
}

async function printLines(out: Cli['out'], body: ReadableStream<Uint8Array>): Promise<void> {
  let rest = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    if (rest.length > maxLineChars) throw new CliFailure('the server sent a line without an end')
    for (const line of lines) out.print(plain(line))
  }
}

function layOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
