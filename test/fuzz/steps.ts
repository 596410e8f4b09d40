// One generated request: each part is valid, nearly valid, or garbage.
import fc from 'fast-check'
import { nounOf, type Operation, operations, type Parameter } from '../support/http/operations.ts'
import { type Content, contentsOf } from './contents.ts'
import { type DeliveryStep, deliveries } from './deliveries.ts'
import { malformedBytes } from './malformed.ts'
import { headerTexts, unusualTexts } from './spoil.ts'
import { taste } from './tastes.ts'
import { named, nth } from './tokens.ts'
import { valuesOf } from './values.ts'

type Pair = [name: string, value: string]

export interface CallStep {
  kind: 'call'
  method: string
  /** The path template of the document; `params` has the values of its parameters. */
  path: string
  params: Record<string, string>
  query: Pair[]
  headers: Pair[]
  content: Content | null
  /** Sends the body in chunks, without Content-Length. */
  isChunked: boolean
  /** The share of the request after which the client disconnects, or null. */
  leavesAfter: number | null
}

/** Arbitrary bytes, which may not be HTTP. */
export interface RawStep {
  kind: 'raw'
  bytes: Buffer
}

export type Step = CallStep | DeliveryStep | RawStep

const rarely = <T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>, weight = 20) =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare })

const bearer: Pair = ['Authorization', `Bearer ${named('token')}`]
const session: Pair[] = [
  ['Cookie', named('session')],
  ['Sec-Fetch-Site', 'same-origin'],
]
/** Mostly the kind of credential that the operation requires, otherwise another, none, or an invalid one. */
const credentialsFor = ({ isForSession }: Operation) =>
  rarely<Pair[]>(
    isForSession ? fc.constant(session) : rarely(fc.constant([bearer]), fc.constant(session), 6),
    fc.constantFrom<Pair[]>(
      [],
      [['Authorization', 'Bearer wrong']],
      [['Authorization', 'Basic YTpi']],
      [bearer, bearer],
      [bearer, ...session],
      [bearer],
      session.slice(0, 1),
    ),
  )
const hosts = rarely<Pair[]>(
  fc.constant([['Host', 'localhost']]),
  fc.constantFrom<Pair[]>([['Host', 'evil.invalid']], [], [['Host', 'localhost:1']], [['Host', '']]),
  40,
)
const unusualHeaders = fc.tuple(
  fc.constantFrom(
    'Idempotency-Key',
    'Last-Event-ID',
    'Cookie',
    'Origin',
    'X-Forwarded-For',
    'Accept',
    'Expect',
    'Range',
  ),
  headerTexts,
)

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PURGE', 'get']

/** A plain GET of that path. */
export function readingOf(path: string): CallStep {
  const headers: Pair[] = [['Host', 'localhost'], bearer]
  const bare = { params: {}, query: [], content: null, isChunked: false, leavesAfter: null }
  return { kind: 'call', method: 'GET', path, headers, ...bare }
}

function paramsOf({ path, parameters }: Operation): fc.Arbitrary<Record<string, string>> {
  const here = parameters.filter((parameter) => parameter.in === 'path')
  return fc.record(
    Object.fromEntries(here.map(({ name }) => [name, rarely(things(nounOf(path, name)), unusualTexts, 8)])),
  )
}

/** A created object, of the right kind or, rarely, of another. */
function things(noun: string): fc.Arbitrary<string> {
  const index = fc.nat({ max: 9 })
  return rarely(
    index.map((position) => nth(noun, position)),
    fc
      .tuple(fc.constantFrom('services', 'deploys', 'jobs', 'registries', 'datastores'), index)
      .map(([other, one]) => nth(other, one)),
  )
}

function queryOf({ parameters }: Operation): fc.Arbitrary<Pair[]> {
  const here = parameters.filter((parameter) => parameter.in === 'query')
  const valid = here.map((parameter) =>
    valuesOf(parameter.schema, taste).map((value): Pair => [parameter.name, String(value)]),
  )
  const names = fc.constantFrom(...here.map(({ name }) => name), 'unknown', '__proto__', 'access_token')
  const unusual: fc.Arbitrary<Pair> = fc.tuple(names, fc.oneof(unusualTexts, fc.constant('')))
  if (valid.length === 0) return rarely(fc.constant([]), fc.array(unusual, { maxLength: 2 }))
  return rarely(
    fc.array(fc.oneof(...valid), { maxLength: 2 }),
    fc.array(fc.oneof(unusual, ...valid), { maxLength: 4 }),
    3,
  )
}

function headersOf(operation: Operation): fc.Arbitrary<Pair[]> {
  const keys = operation.parameters.filter((parameter) => parameter.in === 'header').map(declaredHeader)
  const some =
    keys.length === 0
      ? fc.constant([])
      : rarely<Pair[]>(fc.constant([]), fc.array(fc.oneof(...keys), { maxLength: 2 }), 2)
  const unusual = rarely<Pair[]>(
    fc.constant([]),
    fc.array(unusualHeaders, { minLength: 1, maxLength: 2 }),
    10,
  )
  return fc.tuple(hosts, credentialsFor(operation), some, unusual).map((lists) => lists.flat())
}

/** A small set, so that values repeat. */
function declaredHeader({ name }: Parameter): fc.Arbitrary<Pair> {
  return fc.tuple(fc.constant(name), fc.constantFrom('1', '2', '7', 'once', '999999999999999999', '-1'))
}

function callsOf(operation: Operation): fc.Arbitrary<CallStep> {
  return fc.record({
    kind: fc.constant('call' as const),
    method: rarely(fc.constant(operation.method), fc.constantFrom(...methods), 30),
    path: rarely(
      fc.constant(operation.path),
      fc.constantFrom('/', '/api', '/api/v1/', `${operation.path}/more`),
      60,
    ),
    params: paramsOf(operation),
    query: queryOf(operation),
    headers: headersOf(operation),
    content: contentsOf(operation),
    isChunked: rarely(fc.constant(false), fc.constant(true), 9),
    leavesAfter: rarely(fc.constant(null), fc.double({ min: 0, max: 1, noNaN: true }), 40),
  })
}

/** Starts with services, because everything else depends on them, and with datastores for their routes. */
const weights: Record<string, number> = { '/api/v1/services': 4, '/api/v1/datastores': 3 }
const weightOf = ({ method, path }: Operation) => (method === 'POST' ? (weights[path] ?? 1) : 1)

const calls = fc.oneof(
  ...operations.map((operation) => ({ weight: weightOf(operation), arbitrary: callsOf(operation) })),
)
const raws: fc.Arbitrary<Step> = malformedBytes.map((bytes) => ({ kind: 'raw', bytes }))

/** Requests that build on the results of earlier ones. */
export const sequences: fc.Arbitrary<Step[]> = fc.array(rarely(rarely<Step>(calls, deliveries), raws), {
  minLength: 1,
  maxLength: 30,
  size: 'max',
})
