import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  parseImageReference,
  parseRegistryHost,
  pinnedName,
  withDigest,
} from '../../../src/docker/images/image-reference.ts'

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`

test("defaults are Docker's: its hub, library/ and latest", () => {
  const normal = {
    nginx: 'docker.io library/nginx latest nginx:latest',
    ' nginx:1.27 ': 'docker.io library/nginx 1.27 nginx:1.27',
    'docker.io/library/nginx': 'docker.io library/nginx latest nginx:latest',
    'index.docker.io/nginx:1': 'docker.io library/nginx 1 nginx:1',
    'registry-1.docker.io/ada/web': 'docker.io ada/web latest ada/web:latest',
    'ada/web': 'docker.io ada/web latest ada/web:latest',
    'library/a/b': 'docker.io library/a/b latest library/a/b:latest',
    'GHCR.io/ada/web:V1': 'ghcr.io ada/web V1 ghcr.io/ada/web:V1',
    'localhost/web': 'localhost web latest localhost/web:latest',
    '127.0.0.1:5000/a/b/c:v1': '127.0.0.1:5000 a/b/c v1 127.0.0.1:5000/a/b/c:v1',
    'registry:5000/web': 'registry:5000 web latest registry:5000/web:latest',
    'docker.io/dotted.name/web': 'docker.io dotted.name/web latest docker.io/dotted.name/web:latest',
    'a--b/c__d.e-f:_x.Y-1': 'docker.io a--b/c__d.e-f _x.Y-1 a--b/c__d.e-f:_x.Y-1',
  }

  for (const [text, expected] of Object.entries(normal)) {
    const { host, repository, tag, reference } = parseImageReference(text)
    assert.equal(`${host} ${repository} ${tag} ${reference}`, expected, text)
  }
})

test('a digest identifies the image, with or without a tag', () => {
  const alone = parseImageReference(`nginx@${digest}`)
  const both = parseImageReference(`ghcr.io/ada/web:v1@${digest}`)

  assert.deepEqual([alone.tag, alone.digest, alone.reference], [null, digest, `nginx@${digest}`])
  assert.deepEqual([both.tag, both.digest, both.reference], ['v1', digest, `ghcr.io/ada/web:v1@${digest}`])
  assert.equal(pinnedName(both, digest), `ghcr.io/ada/web@${digest}`)
  const hub = parseImageReference('docker.io/library/nginx:1')
  assert.deepEqual(
    [pinnedName(hub, digest), withDigest(hub, digest)],
    [`nginx@${digest}`, `nginx:1@${digest}`],
  )
})

test('the normal form refers to the same image', () => {
  const name = fc.stringMatching(/^[a-z0-9]+([._-][a-z0-9]+){0,3}$/)
  const host = fc.constantFrom('', 'docker.io/', 'localhost/', 'ghcr.io/', '10.0.0.1:5000/')
  const tag = fc.option(fc.stringMatching(/^\w[\w.-]{0,20}$/), { nil: null })

  fc.assert(
    fc.property(host, fc.array(name, { minLength: 1, maxLength: 3 }), tag, (where, parts, tag) => {
      // A first part with a dot is a host.
      fc.pre(where !== '' || !parts[0]?.includes('.'))
      const text = `${where}${parts.join('/')}${tag === null ? '' : `:${tag}`}`
      const first = parseImageReference(text)
      assert.deepEqual(parseImageReference(first.reference), first)
    }),
  )
})

const refused: [text: string, message: RegExp][] = [
  ['', /is empty/],
  ['-v', /starts with -/],
  ['web v1', /a blank or a control character/],
  ['web\u0000', /a blank or a control character/],
  ['Web', /upper-case/],
  ['Ada/web', /upper-case/],
  ['https://ghcr.io/ada/web', /scheme/],
  ['ada:hush@ghcr.io/web', /credentials/],
  [`a@${digest}@${digest}`, /more than one @/],
  ['web@sha256:abc', /digest/],
  [`web@sha512:${'a'.repeat(128)}`, /digest/],
  ['web:', /tag/],
  ['web:.v1', /tag/],
  ['web:v1:v2', /tag/],
  [`web:${'a'.repeat(129)}`, /tag/],
  ['web/', /name/],
  ['a//b', /name/],
  ['../b', /host name/],
  ['a_-b', /name/],
  ['web$(id)', /name/],
  ['ünï', /name/],
  ['ghcr.io:0/web', /host name or port/],
  ['ghcr.io:99999/web', /host name or port/],
  ['ghcr-.io/web', /host name or port/],
  ['[::1]:5000/web', /host name or port/],
  [`${'a'.repeat(250)}/bcdef`, /more than 255 characters/],
  ['a'.repeat(600), /longer than 512/],
  ['a'.repeat(64), /an id/],
]

test('an invalid reference is refused with the reason, and without repeating it', () => {
  for (const [text, message] of refused) {
    assert.throws(
      () => parseImageReference(text),
      (error: Error & { code: string }) => {
        assert.equal(error.code, 'invalid_request', text)
        assert.match(error.message, message, text)
        assert.doesNotMatch(error.message, /hush/)
        return true
      },
      text,
    )
  }
})

test('a registry has one name for all of its aliases', () => {
  const hosts = {
    'docker.io': 'docker.io',
    'Index.Docker.io': 'docker.io',
    'registry-1.docker.io': 'docker.io',
    'GHCR.IO': 'ghcr.io',
    localhost: 'localhost',
    'localhost:5000': 'localhost:5000',
    '127.0.0.1:5000': '127.0.0.1:5000',
    'registry:5000': 'registry:5000',
    'xn--bcher-kva.example': 'xn--bcher-kva.example',
  }
  for (const [text, host] of Object.entries(hosts)) assert.equal(parseRegistryHost(text), host)

  const wrong = ['', 'ghcr', 'ghcr.io/ada', 'a:hush@ghcr.io', 'ghcr.io:', 'ghcr.io:0', 'ghcr.io:65536', '..']
  for (const text of [...wrong, 'ghcr.io.', 'a_b.c', '[::1]:5000', `${'a.'.repeat(130)}b`]) {
    assert.throws(
      () => parseRegistryHost(text),
      { code: 'invalid_request', message: /^host must name/ },
      text,
    )
  }
})
