// The rules for every response: it matches the OpenAPI document and the problem format, and contains no
// secret, and the server is still running.

import { supportsHead } from '../../src/http/pipeline/route.ts'
import { routes } from '../../src/http/pipeline/routes.ts'
import { checkAnswer, document } from '../support/http/openapi.ts'
import { exchange, type WireAnswer } from '../support/http/wire.ts'
import type { Sent } from './player.ts'
import type { Secrets } from './secrets.ts'
import type { World } from './world.ts'

/** The only server errors that a response may report. */
const decided: Record<number, string[]> = {
  502: ['docker_error', 'git_provider_unavailable', 'git_remote_unreachable'],
  503: ['docker_unavailable'],
  507: ['insufficient_storage'],
}

/** Statuses for a path that the document does not contain, or a method that its path does not support. */
const elsewhere = [400, 401, 403, 404, 405, 411]
const pages = new Set(routes.filter(({ isPage }) => isPage).map(({ path }) => path))
const pathsWithHead = new Set(routes.filter(supportsHead).map(({ path }) => path))
/** Further statuses of pages: the page itself, or a redirect. */
const ofPages = [200, 204, 303, 411, 413, 415]

/** The fault of the response, or null. */
export async function judge(sent: Sent, world: World): Promise<string | null> {
  const { answer, isWhole } = sent
  const wrong = answer ? judgeAnswer(sent, answer, world.secrets) : isWhole ? 'there was no answer' : null
  return wrong ?? (await judgeServer(world))
}

/** Checks that the same process is still running and serving. */
async function judgeServer({ daemon, port }: World): Promise<string | null> {
  const health = await exchange(port, Buffer.from('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'))
  if (health?.status === 200 && health.text === 'ok') return null
  const text = daemon.log.slice(-5).join('\n')
  const report = health ? `${health.status} ${health.text}` : 'nothing'
  return `afterwards /healthz answers ${report}; the log ends:\n${text}`
}

/** The fault of a response by itself, or null. */
export function judgeAnswer(sent: Sent, response: WireAnswer, secrets: Secrets): string | null {
  const { status, text } = response
  const operation = sent.target === '' ? null : operationAt(sent)
  const leak = secrets.findIn(operation && status < 300 ? withoutValues(operation, text) : text)
  if (leak) return `${status} gives away ${leak}: ${excerpt(text)}`
  if (!response.headers.has('x-request-id')) return judgeLibrary(response)
  return judgeProblem(response) ?? (sent.target === '' ? null : judgeStatus(sent, response, operation))
}

/** A head that uWS rejects itself never reaches Berth. */
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
    return `${status} is not a problem document: ${excerpt(text)}`
  const problem = JSON.parse(text)
  if (problem.status !== status) return `${status} contains the status ${problem.status}`
  if (problem.request_id !== headers.get('x-request-id'))
    return `${status} has another request_id than its header`
  if (status >= 500 && !decided[status]?.includes(problem.code)) return `${status} ${excerpt(text)}`
  return null
}

/** The document's operation for a request; literal segments win over parameters. */
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
 * The response of an operation that returns variables or a datastore's password may contain secrets, but only
 * in these fields.
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
