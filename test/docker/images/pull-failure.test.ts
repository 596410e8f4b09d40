import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPullProgress } from '../../../src/docker/images/pull.ts'
import { describePullFailure } from '../../../src/docker/images/pull-failure.ts'

const requested = { reference: 'ghcr.io/ada/web:v1', host: 'ghcr.io', credentials: null }

test('failures of several engine versions are distinguished by their messages', () => {
  const texts: Record<string, string[]> = {
    image_not_found: [
      'manifest for ghcr.io/ada/web:v1 not found: manifest unknown: manifest unknown',
      'manifest unknown: manifest unknown',
      'name unknown: repository name not known to registry',
      'failed to resolve reference "ghcr.io/ada/web:v1": ghcr.io/ada/web:v1: not found',
      'no matching manifest for linux/arm64/v8 in the manifest list entries',
    ],
    registry_unauthorized: [
      'unauthorized: authentication required',
      'Head "https://ghcr.io/v2/ada/web/manifests/v1": no basic auth credentials',
      "pull access denied for ada/web, repository does not exist or may require 'docker login': denied: no",
      'Get "https://auth.docker.io/token?account=ada": unauthorized: incorrect username or password',
      'error parsing HTTP 403 response body: unexpected end of JSON input: ""',
      'unexpected status from HEAD request to https://ghcr.io/v2/ada/web/manifests/v1: 401 Unauthorized',
      'server message: insufficient_scope: authorization failed',
    ],
    registry_unreachable: [
      'Get "https://ghcr.io/v2/": dial tcp 10.0.0.1:403: connect: connection refused',
      'Get "https://ghcr.io/v2/": dial tcp: lookup ghcr.io on 10.0.0.53:53: no such host',
      'Get "https://ghcr.io/v2/": dial tcp: lookup ghcr.io: Temporary failure in name resolution',
      'Get "https://ghcr.io/v2/": net/http: TLS handshake timeout',
      'Get "https://ghcr.io/v2/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
      'Get "https://ghcr.io/v2/": dial tcp 10.0.0.1:443: connect: no route to host',
      'Get "https://ghcr.io/v2/": read tcp 10.0.0.2:9->10.0.0.1:443: read: connection reset by peer',
      'Get "https://ghcr.io/v2/": EOF',
      'received unexpected HTTP status: 503 Service Unavailable',
      'unexpected status from HEAD request to https://ghcr.io/v2/ada/web/manifests/v1: 502 Bad Gateway',
    ],
    registry_rate_limited: [
      'toomanyrequests: You have reached your pull rate limit. You may increase the limit by …',
      'unexpected status from GET request to https://ghcr.io/v2/x: 429 Too Many Requests',
    ],
    insufficient_storage: [
      'failed to register layer: Error processing tar file(exit status 1): write /a: no space left on device',
    ],
    pull_failed: [
      'Get "https://ghcr.io/v2/": x509: certificate signed by unknown authority',
      'Get "https://ghcr.io/v2/": http: server gave HTTP response to HTTPS client',
      'failed to register layer: open /var/lib/docker/tmp/x: permission denied',
    ],
  }

  for (const [code, all] of Object.entries(texts)) {
    for (const text of all) assert.equal(describePullFailure(text, requested).code, code, text)
  }
})

test('text in the name of an image or a registry does not affect the reason', () => {
  const named = {
    reference: 'denied.test:429/not-found/eof:timeout',
    host: 'denied.test:429',
    credentials: null,
  }
  const text = 'Get "https://denied.test:429/v2/not-found/eof/manifests/timeout": x509: unknown authority'

  assert.equal(describePullFailure(text, named).code, 'pull_failed')
  assert.equal(
    describePullFailure('manifest for denied.test:429/not-found/eof:timeout not found', named).code,
    'image_not_found',
  )
})

test('the message names where credentials are stored, and other text of the engine', () => {
  const stored = { ...requested, credentials: { password: 'canary-pass-1' } }

  assert.equal(
    describePullFailure('unauthorized: authentication required', requested).message,
    'cannot pull ghcr.io/ada/web:v1: ghcr.io has no such image, or requires credentials; ' +
      'berth registries add ghcr.io stores them',
  )
  assert.match(
    describePullFailure('unauthorized', stored).message,
    /rejected the stored credentials.*replaces them$/,
  )
  assert.match(describePullFailure('toomanyrequests: no', requested).message, /credentials may raise it/)
  assert.match(describePullFailure('toomanyrequests: no', stored).message, /try again later$/)
  assert.equal(
    describePullFailure('something\n  odd', requested).message,
    'cannot pull ghcr.io/ada/web:v1: something odd',
  )
})

test('an echoed password is not shown, and long text is truncated', () => {
  const stored = { ...requested, credentials: { password: 'canary-pass-1' } }

  const echoed = describePullFailure('bad header: ada:canary-pass-1', stored).message
  const long = describePullFailure(`x${'y'.repeat(5000)}`, stored).message

  assert.equal(echoed, 'cannot pull ghcr.io/ada/web:v1: bad header: ada:***')
  assert.ok(long.length < 400)
})

const mebibyte = 1024 * 1024

test('a pull of many layers logs a line every five seconds, and its result', () => {
  const { push, end, lines, clock } = start()
  const download = (id: string, current: number) =>
    push({ id, status: 'Downloading', progressDetail: { current: current * mebibyte, total: 10 * mebibyte } })

  push({ id: '1.27', status: 'Pulling from library/nginx' })
  push({ id: 'aaa', status: 'Already exists' })
  for (const id of ['bbb', 'ccc']) push({ id, status: 'Pulling fs layer' })
  for (let step = 0; step <= 1000; step++) {
    clock.ms += 10
    download('bbb', step / 100)
    download('ccc', step / 200)
  }
  for (const id of ['bbb', 'ccc']) {
    push({ id, status: 'Download complete' })
    push({ id, status: 'Extracting', progressDetail: { current: 1, total: 12 * mebibyte } })
    push({ id, status: 'Pull complete' })
  }
  push({ status: `Digest: sha256:${'0'.repeat(64)}` })
  end()

  assert.deepEqual(lines, [
    '1 of 3 layers are present, 7.5 MiB of 20 MiB received',
    '1 of 3 layers are present, 15 MiB of 20 MiB received',
    'pulled 2 layers of 20 MiB, 1 was already present',
  ])
})

test('a layer that arrives at once counts as received', () => {
  const { push, lines, clock } = start()

  push({ id: 'aaa', status: 'Downloading', progressDetail: { current: 1, total: 3 * mebibyte } })
  clock.ms += 5000
  push({ id: 'aaa', status: 'Download complete' })

  assert.deepEqual(lines, ['0 of 1 layer are present, 3 MiB of 3 MiB received'])
})

test('small layers, and an image without new ones, are logged without a size', () => {
  const small = start()
  for (const id of ['aaa', 'bbb', 'ccc']) small.push({ id, status: 'Already exists' })
  small.push({ id: 'ddd', status: 'Pull complete' })
  small.end()
  const known = start()
  known.push({ status: 'Status: Image is up to date' })
  known.end()

  assert.deepEqual(small.lines, ['pulled 1 layer, 3 were already present'])
  assert.deepEqual(known.lines, ['pulled: all its layers were already present'])
})

function start() {
  const lines: string[] = []
  const clock = { ms: 0 }
  return {
    ...createPullProgress(
      (line) => lines.push(line),
      () => clock.ms,
    ),
    lines,
    clock,
  }
}
