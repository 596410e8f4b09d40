// What git providers send to a hook: whether it is signed with its secret, and its branch or tag.
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { isEqualSecret } from '../equal-secret.ts'
import type { ProviderName } from './base-url.ts'

export interface HookRequest {
  /** By their names in lower case. */
  headers: ReadonlyMap<string, string>
  /** As it came: the signature is about these bytes. */
  body: Uint8Array
}

interface HookName {
  /** The same for a repetition of the provider; null without one. */
  deliveryId: string | null
  event: string
}

export interface HookEvent extends HookName {
  /** Null for another event. */
  push: Push | null
  /** The addresses of the repository whose checks changed; empty for another event. */
  checked: string[]
}

export interface Push {
  /** The addresses of the repository. */
  repositories: string[]
  /** It stays when the repository is renamed or moved. Null if it is not named. */
  repositoryId: string | null
  /** `refs/heads/main`, or `refs/tags/v1.0` */
  ref: string
  before: string
  /** Only zeros for a deleted branch. */
  after: string
  /** Whether commits were taken back. Null if the provider does not say. */
  isForced: boolean | null
}

export interface UnopenedDelivery extends HookRequest {
  provider: ProviderName
  /** Each may have signed it. */
  secrets: string[]
}

export interface OpenedDelivery {
  /** The place of the secret that signed it. */
  signer: number
  /** Null for a body that is no event of the provider. */
  event: HookEvent | null
}

/** Null without a valid signature. */
export function openDelivery({ provider, secrets, ...request }: UnopenedDelivery): OpenedDelivery | null {
  const signer = secrets.findIndex((secret) => isSigned(provider, request, secret))
  return signer === -1 ? null : { signer, event: readEvent(provider, request) }
}

/** In constant time. */
export function isSigned(provider: ProviderName, request: HookRequest, secret: string): boolean {
  const { sent, expected } = signatures[provider](request)
  if (sent.length === 0) return false
  const wanted = expected(secret)
  return sent.some((one) => isEqualSecret(one, wanted))
}

interface Signature {
  sent: string[]
  expected(secret: string): string
}

const hexOf = (body: Uint8Array) => (secret: string) =>
  createHmac('sha256', secret).update(body).digest('hex')

const signatures: Record<ProviderName, (request: HookRequest) => Signature> = {
  github({ headers, body }) {
    const [, sent] = /^sha256=([0-9a-f]{64})$/.exec(headers.get('x-hub-signature-256') ?? '') ?? []
    return { sent: sent === undefined ? [] : [sent], expected: hexOf(body) }
  },
  gitea({ headers, body }) {
    const sent = headers.get('x-forgejo-signature') ?? headers.get('x-gitea-signature') ?? ''
    return { sent: /^[0-9a-f]{64}$/.test(sent) ? [sent] : [], expected: hexOf(body) }
  },
  gitlab({ headers, body }) {
    const signed = headers.get('webhook-signature')
    // A request that carries a signature is not accepted for its token.
    if (signed === undefined)
      return { sent: [headers.get('x-gitlab-token') ?? ''], expected: (secret) => secret }
    const head = `${headers.get('webhook-id') ?? ''}.${headers.get('webhook-timestamp') ?? ''}.`
    const ofVersion = signed.split(' ').filter((one) => one.startsWith('v1,'))
    return {
      sent: ofVersion.slice(0, maxSignatures).map((one) => one.slice('v1,'.length)),
      expected: (secret) => createHmac('sha256', keyOf(secret)).update(head).update(body).digest('base64'),
    }
  },
}

/** There are two while a secret is being replaced. */
const maxSignatures = 5

/** A secret of Standard Webhooks is written in base64. */
function keyOf(secret: string): Buffer | string {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
}

interface Names {
  event: string
  ids: string[]
  pushes: string[]
  /** Events about the checks of a commit. */
  checks: string[]
}

const names: Record<ProviderName, Names> = {
  github: {
    event: 'x-github-event',
    ids: ['x-github-delivery'],
    pushes: ['push'],
    checks: ['check_suite', 'status'],
  },
  gitea: { event: 'x-gitea-event', ids: ['x-gitea-delivery'], pushes: ['push'], checks: ['status'] },
  gitlab: {
    event: 'x-gitlab-event',
    ids: ['idempotency-key', 'x-gitlab-event-uuid'],
    pushes: ['Push Hook', 'Tag Push Hook'],
    checks: ['Pipeline Hook'],
  },
}

const address = z.string().max(2048).nullish()
const id = z.int().positive().nullish()
const About = z.object({
  repository: z.object({ id, clone_url: address, ssh_url: address, html_url: address }).nullish(),
  project: z.object({ id, git_http_url: address, git_ssh_url: address, web_url: address }).nullish(),
})
const Pushed = About.extend({
  ref: z.string().max(1024),
  before: z.string().max(64),
  after: z.string().max(64),
  forced: z.boolean().nullish(),
})

/** What the headers say; null without an event. */
export function readName(provider: ProviderName, headers: HookRequest['headers']): HookName | null {
  const { event: eventName, ids } = names[provider]
  const event = headers.get(eventName)?.slice(0, 100)
  const deliveryId = ids.flatMap((name) => headers.get(name)?.slice(0, 100) ?? [])[0] ?? null
  return event === undefined ? null : { deliveryId, event }
}

/** Null for a body that is no event of this provider. */
export function readEvent(provider: ProviderName, { headers, body }: HookRequest): HookEvent | null {
  const { pushes, checks } = names[provider]
  const name = readName(provider, headers)
  if (name === null) return null
  const { event } = name
  const other = { ...name, push: null, checked: [] }
  if (checks.includes(event)) {
    const about = About.safeParse(parse(headers, body))
    return about.success ? { ...other, checked: addressesIn(about.data) } : null
  }
  if (!pushes.includes(event)) return other
  const payload = Pushed.safeParse(parse(headers, body))
  if (!payload.success) return null
  const { ref, before, after, forced, repository, project } = payload.data
  const number = repository?.id ?? project?.id ?? null
  const repositoryId = number === null ? null : String(number)
  const repositories = addressesIn(payload.data)
  return { ...other, push: { ref, before, after, isForced: forced ?? null, repositories, repositoryId } }
}

function addressesIn({ repository, project }: z.output<typeof About>): string[] {
  return Object.values({ ...repository, ...project }).filter((one) => typeof one === 'string')
}

/** JSON, or a form whose field `payload` is JSON, as GitHub sends it on request. */
function parse(headers: HookRequest['headers'], body: Uint8Array): unknown {
  const text = new TextDecoder().decode(body)
  const isForm = /^application\/x-www-form-urlencoded/i.test(headers.get('content-type') ?? '')
  try {
    return JSON.parse(isForm ? (new URLSearchParams(text).get('payload') ?? '') : text)
  } catch {
    return null
  }
}
