// What every answer must keep to, whatever was asked: the document, the shape of problems, no secret, and a
// server that is still there.
import { routes } from '../../src/http/pipeline/routes.ts'
import { answersHead } from '../../src/http/pipeline/target.ts'
import { checkAnswer, document } from '../support/openapi.ts'
import { exchange, type WireAnswer } from '../support/wire.ts'
import type { Sent } from './player.ts'
import type { Secrets } from './secrets.ts'
import type { World } from './world.ts'

/** The only failures of ours that an answer may tell. */
const decided: Record<number, string> = {
  502: 'docker_error',
  503: 'docker_unavailable',
  507: 'insufficient_storage',
}

/** What a path answers that is not in the document, or a method that its path does not take. */
const elsewhere = [400, 401, 403, 404, 405, 411]
const pages = new Set(routes.filter(({ isPage }) => isPage).map(({ path }) => path))
const pathsWithHead = new Set(routes.filter(answersHead).map(({ path }) => path))
/** What a page answers besides: itself, or where it leads. */
const ofPages = [200, 204, 303, 411, 413, 415]

/** What is wrong with the answer; null when nothing is. */
export async function judge(sent: Sent, world: World): Promise<string | null> {
  const { answer, isWhole } = sent
  const wrong = answer ? judgeAnswer(sent, answer, world.secrets) : isWhole ? 'there was no answer' : null
  return wrong ?? (await judgeServer(world))
}

/** Looks whether the process that was there before is there still, and serves. */
async function judgeServer({ daemon, port }: World): Promise<string | null> {
  const health = await exchange(port, Buffer.from('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'))
  if (health?.status === 200 && health.text === 'ok') return null
  const words = daemon.log.slice(-5).join('\n')
  const said = health ? `${health.status} ${health.text}` : 'nothing'
  return `afterwards /healthz answers ${said}; the log ends:\n${words}`
}

/** The same, of an answer alone. */
export function judgeAnswer(sent: Sent, answer: WireAnswer, secrets: Secrets): string | null {
  const { status, text } = answer
  const operation = sent.target === '' ? null : operationAt(sent)
  const leak = secrets.findIn(operation && status < 300 ? withoutValues(operation, text) : text)
  if (leak) return `${status} gives away ${leak}: ${excerpt(text)}`
  if (!answer.headers.has('x-request-id')) return judgeLibrary(answer)
  return judgeProblem(answer) ?? (sent.target === '' ? null : judgeStatus(sent, answer, operation))
}

/** A head that uWS refuses itself never comes to us. */
function judgeLibrary({ status, text }: WireAnswer): string | null {
  return [400, 431, 505].includes(status) ? null : `${status} is not ours: ${excerpt(text)}`
}

interface Known {
  method: string
  template: string
}

function judgeStatus(
  { method, target }: Sent,
  { status, headers, text }: WireAnswer,
  operation: Known | null,
): string | null {
  if (operation === null) {
    const isOfPage = pages.has(target.split('?')[0]!) && ofPages.includes(status)
    const isFine = elsewhere.includes(status) || isOfPage || (method === 'OPTIONS' && status === 204)
    return isFine ? null : `${method} ${target} is nothing, and was answered ${status} ${excerpt(text)}`
  }
  if (method === 'HEAD') {
    const described = document.paths[operation.template]!.get!.responses as Record<string, unknown>
    return status in described ? null : `HEAD ${target} may not be answered ${status}`
  }
  try {
    const isJson = headers.get('content-type')?.includes('json')
    checkAnswer(operation.method, operation.template, status, isJson ? JSON.parse(text) : text)
    return null
  } catch (error) {
    return `${(error as Error).message}: ${excerpt(text)}`
  }
}

function judgeProblem({ status, headers, text }: WireAnswer): string | null {
  if (status < 400 || text === '') return null
  if (headers.get('content-type') !== 'application/problem+json')
    return `${status} is no problem: ${excerpt(text)}`
  const problem = JSON.parse(text)
  if (problem.status !== status) return `${status} says that it is ${problem.status}`
  if (problem.request_id !== headers.get('x-request-id'))
    return `${status} has another request_id than its header`
  if (status >= 500 && problem.code !== decided[status]) return `${status} ${excerpt(text)}`
  return null
}

/** What of the document a request is about; a path of words wins over one with parameters. */
function operationAt({ method, target }: Sent): Known | null {
  const path = target.split('?')[0]!
  const fits = Object.keys(document.paths).filter((template) =>
    new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )
  const [template] = fits.sort((one, other) => one.split('{').length - other.split('{').length)
  if (template === undefined) return null
  const methods = document.paths[template]!
  const documented = method === 'HEAD' ? 'GET' : method
  const described = methods[documented.toLowerCase()]
  if (described === undefined || documented !== documented.toUpperCase()) return null
  if (method === 'HEAD' && !pathsWithHead.has(template)) return null
  return { method: documented, template }
}

/**
 * Who asks for variables gets their values, and who asks for a datastore its password: only there a secret
 * may be, and only in these fields.
 */
function withoutValues({ method, template }: Known, text: string): string {
  const described = JSON.stringify(document.paths[template]![method.toLowerCase()]!.responses)
  const [, fields] = secretFields.find(([schema]) => described.includes(`/${schema}"`)) ?? []
  if (!fields || text === '') return text
  return JSON.stringify(JSON.parse(text), (key, value) => (fields.includes(key) ? undefined : value))
}

const secretFields: [schema: string, fields: string[]][] = [
  ['EnvVar', ['value']],
  ['ShownEnvVar', ['value']],
  ['Datastore', ['password', 'internal_url', 'external_url']],
]

function excerpt(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text
}
