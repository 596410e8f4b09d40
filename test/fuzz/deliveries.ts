// Deliveries of git providers, signed with the secret of a webhook: valid pushes, and broken ones.
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { brokenJson, type Content } from './contents.ts'
import { headerTexts, spoiled, unusualTexts } from './spoil.ts'
import { named } from './tokens.ts'
import type { Json } from './values.ts'

export const providers = ['github', 'gitlab', 'gitea'] as const
export type Provider = (typeof providers)[number]

export interface DeliveryStep {
  kind: 'delivery'
  provider: Provider
  event: string
  /** Of the delivery. */
  id: string
  content: Content
  /** Whether the address names the connection. */
  isNamed: boolean
  isSigned: boolean
}

export interface Webhook {
  connection: string
  secret: string
}

const eventNames = ['push', 'status', 'check_suite', 'ping', 'Push Hook', 'Tag Push Hook', 'Pipeline Hook']
const controls = ['pu\x01sh', 'push\x7f', 'push\0', '\x1b[31mpush']
const events = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...eventNames) },
  { weight: 2, arbitrary: headerTexts },
  { weight: 1, arbitrary: fc.constantFrom(...controls) },
)
/** A small set, so that they repeat. */
const ids = fc.oneof({ weight: 9, arbitrary: fc.constantFrom('1', '2', '3') }, headerTexts)

const oddRefs = ['', 'HEAD', 'main', 'refs/heads/', 'refs/tags/', 'refs/heads/../main', 'refs/heads/a\0b']
const refs = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('refs/heads/main', 'refs/heads/gone', 'refs/tags/v1') },
  { weight: 2, arbitrary: fc.constantFrom(...oddRefs, `refs/heads/${'x'.repeat(1014)}`) },
  { weight: 1, arbitrary: unusualTexts },
)
const commits = fc.constantFrom('0'.repeat(40), '1'.repeat(40), named('head'), 'f'.repeat(64), '')
const addresses = fc.constantFrom(named('private'), named('hanging'), named('app'), 'git@host.invalid:a/b')
const numbers = fc.constantFrom(1, 2, 2 ** 53 - 1)

const pushes: fc.Arbitrary<Json> = fc.record(
  {
    ref: refs,
    before: commits,
    after: commits,
    forced: fc.constantFrom(true, false, null),
    repository: fc.record({ id: numbers, clone_url: addresses, ssh_url: addresses }),
    project: fc.record({ id: numbers, git_http_url: addresses }),
  },
  { requiredKeys: ['ref', 'before', 'after'] },
)

/** Written as text: as values, these numbers would be others. */
const hugeNumbers = fc.constantFrom(
  ...['1e999', '-1e999', '9'.repeat(400), '0.0000001', '-0', '9007199254740993'].map(
    (number) => `{"ref":"refs/heads/main","before":"","after":"","repository":{"id":${number}}}`,
  ),
)
const json = { type: fc.constant('application/json'), encoding: fc.constant(null) }
const form = { ...json, type: fc.constant('application/x-www-form-urlencoded') }
const payloadOf = (text: string) => `payload=${encodeURIComponent(text)}`
const contents: fc.Arbitrary<Content> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ ...json, json: pushes }) },
  { weight: 6, arbitrary: fc.record({ ...json, json: spoiled(pushes) }) },
  { weight: 3, arbitrary: fc.record({ ...json, text: fc.oneof(brokenJson, hugeNumbers, unusualTexts) }) },
  { weight: 1, arbitrary: fc.record({ ...form, text: fc.oneof(unusualTexts, hugeNumbers.map(payloadOf)) }) },
  {
    weight: 1,
    arbitrary: fc.record({ ...form, text: pushes.map((push) => payloadOf(JSON.stringify(push))) }),
  },
)

export const deliveries: fc.Arbitrary<DeliveryStep> = fc.record({
  kind: fc.constant('delivery'),
  provider: fc.constantFrom(...providers),
  event: events,
  id: ids,
  content: contents,
  isNamed: fc.boolean(),
  isSigned: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
})

/** What the provider sends besides the body. */
export function headersOfDelivery(
  { provider, event, id, isSigned }: DeliveryStep,
  { secret }: Webhook,
  body: Buffer,
): [name: string, value: string][] {
  const digest = createHmac('sha256', isSigned ? secret : 'wrong')
    .update(body)
    .digest('hex')
  if (provider === 'gitlab')
    return [
      ['X-Gitlab-Event', event],
      ['X-Gitlab-Event-UUID', id],
      ['X-Gitlab-Token', isSigned ? secret : 'wrong'],
    ]
  const signature: [string, string] =
    provider === 'github' ? ['X-Hub-Signature-256', `sha256=${digest}`] : ['X-Gitea-Signature', digest]
  const title = provider === 'github' ? 'GitHub' : 'Gitea'
  return [[`X-${title}-Event`, event], [`X-${title}-Delivery`, id], signature]
}
