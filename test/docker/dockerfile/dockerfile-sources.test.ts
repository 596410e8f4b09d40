// Which `ADD` a Dockerfile may not have. No address is connected to: the check only reads and resolves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertPublicSources } from '../../../src/docker/dockerfile/dockerfile-sources.ts'

const check = (dockerfile: string, args: Record<string, string> = {}) => assertPublicSources(dockerfile, args)
const refused = { code: 'build_failed', message: /^ADD .* which a build may not read$/ }

const hosts = [
  '127.0.0.1:8000',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0.0.0.0',
  '127.0.0.1.',
  'localhost',
  'LocalHost.',
  'a.localhost',
  '[::1]',
  '[::]:80',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fe80::1%25eth0]',
  '169.254.169.254',
  '0xa9fea9fe',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '168.63.129.16',
  'example.com@127.0.0.1',
  'user:pass@127.0.0.1:80',
  '%31%32%37.0.0.1',
]
for (const host of hosts) {
  test(`ADD of http://${host}/ is refused`, async () => {
    await assert.rejects(check(`FROM a\nADD http://${host}/secret /x`), refused)
  })
}

const hidden: Record<string, string> = {
  https: 'ADD https://127.0.0.1/ /x',
  'capitals and flags': 'add --chown=1:1 --chmod=755 HTTP://127.0.0.1/ /x',
  'the JSON form': 'ADD ["http://127.0.0.1/", "/x"]',
  'one of several sources': 'ADD a https://[::1]/b /x/',
  'continued lines': 'ADD \\\n# a comment\n\n  http://127.\\\n0.0.1/ /x',
  'another escape character': '# escape=`\nFROM a\nADD `\n  http://127.0.0.1/ /x',
  quotes: 'ADD "http://127.0"".0.1/" /x',
  'escaped characters': 'ADD ht\\tp://127.0.0.1/ /x',
  'a trigger': 'ONBUILD ADD http://127.0.0.1/ /x',
  'the default of an argument': 'FROM a\nARG U=http://127.0.0.1/\nADD $U /x',
  'an argument before the stage': `ARG U=127.0.0.1\nFROM a\nARG U\nADD http://\${U}/ /x`,
  'a part of the address': `FROM a\nARG A=7.0\nADD http://12\${A}.0.1/ /x`,
  'a default in place': `FROM a\nADD \${NO:-http://127.0.0.1/} /x`,
  'the env of an earlier stage': 'FROM a AS one\nENV U="http://127.0.0.1/"\nFROM one\nADD $U /x',
  'git by http': 'ADD http://127.0.0.1/repo.git /x',
  'git by its own protocol': 'ADD git://127.0.0.1/repo /x',
  'git by ssh': 'ADD git@localhost:repo.git /x',
  'lines of a heredoc, for an engine that knows none':
    'FROM a\nRUN true <<RUN\nADD http://127.0.0.1/ /x\nRUN',
  'a byte order mark': '\xEF\xBB\xBFFROM a\nADD http://127.0.0.1/ /x',
}
/** As the check gets it: each character is a byte. */
const bytesOf = (text: string) => Buffer.from(text, 'utf8').toString('latin1')

// The builders of Docker fetch all of these; the builder of newer versions the ones with newer operators.
const builderRules: Record<string, string> = {
  'a variable that is not set, before the scheme': `ADD \${NO}http://127.0.0.1/ /x`,
  'a variable that is not set, as a special one': 'ADD http://$@127.0.0.1/ /x',
  'an alternative for what the builder sets': `ADD \${PATH:+http://127.0.0.1/} /x`,
  'an alternative for an argument': `ARG TARGETARCH\nADD \${TARGETARCH:+http://127.0.0.1/} /x`,
  'a default inside a default': `ADD \${A:-\${B:-http://127.0.0.1/}} /x`,
  'a variable that must be set': `ENV U=http://127.0.0.1/\nADD \${U:?no} /x`,
  'an operator that is not followed': `ENV U=xhttp://127.0.0.1/\nADD \${U#x} /x`,
  'quotes inside of quotes': `ENV H=127.0.0.1\nADD http://x"'"@$H/"'" /x`,
  'a text after the JSON form': 'ADD ["http://127.0.0.1/", "/x"] y',
  'escapes in the JSON form': 'ADD ["\\u0068ttp://127.0.0.1/", "/x"]',
  'a form feed as a space': 'ADD\fhttp://127.0.0.1/\f/x',
  'a vertical tab as a space': 'ADD\vhttp://127.0.0.1/ /x',
  'a space of Unicode before it': '\u00a0ADD http://127.0.0.1/ /x',
  'another space of Unicode before it': '\u0085ADD http://127.0.0.1/ /x',
  'a carriage return that ends no line': 'LABEL a=b \\\r\r\nADD http://127.0.0.1/ /x',
  'dots of another script': 'ADD http://127｡0。0｡1/ /x',
  'digits that become others': 'ADD http://1²7.0.0.1/ /x',
  'a variable in the name of a stage': 'ARG N=b\nFROM a AS b\nENV U=http://127.0.0.1/\nFROM $N\nADD $U /x',
  'a variable in the name of a variable': `ENV N=U\nENV $N=http://127.0.0.1/\nADD $U /x`,
  'a keyword in pieces': 'FROM a\nA\\\nDD http://127.0.0.1/ /x',
  'a doubled escape at the end of a line': 'RUN a \\\\\nADD http://127.0.0.1/ /x',
  'more texts than can be followed': `ADD \${A:+a}\${B:+b}\${C:+c}\${D:+d}\${E:+e}\${F:+f}\${G:+g} /x`,
}
for (const [name, lines] of Object.entries({ ...hidden, ...builderRules })) {
  test(`ADD of a loopback address is refused: ${name}`, async () => {
    await assert.rejects(check(name in hidden ? lines : bytesOf(`FROM a\n${lines}`)), refused)
  })
}

test('variables that reference each other many times are not expanded completely', async () => {
  const doubled = Array.from({ length: 28 }, (_, index) => `ENV V${index + 1}=$V${index}$V${index}`)
  const lines = ['FROM a', 'ENV V0=http://192.0.2.1/', ...doubled, 'ADD $V28 /x']

  await assert.rejects(check(lines.join('\n')), refused)
})

test('endlessly continued lines are refused', async () => {
  const message = 'the Dockerfile has overlong continued lines'
  await assert.rejects(check('ADD a \\\n'.repeat(60_000)), { code: 'build_failed', message })
})

test('build arguments take precedence over defaults', async () => {
  const dockerfile = 'FROM a\nARG U=http://192.0.2.1/\nADD $U /x'

  await check(dockerfile)
  await assert.rejects(check(dockerfile, { U: 'http://127.0.0.1/' }), refused)
  await check('FROM a\nARG U=http://127.0.0.1/\nADD $U /x', { U: 'http://192.0.2.1/' })
})

const allowed: Record<string, string> = {
  files: 'FROM a\nADD a b.tar.gz ./c /x/\nCOPY . .',
  'other addresses': 'FROM a\nADD http://192.0.2.1/a https://[2001:db8::1]/b http://10.0.0.1/c /x/',
  'a name that does not resolve': 'FROM a\nADD http://nothing.invalid/ /x',
  'other instructions':
    'FROM a\nRUN curl http://127.0.0.1/\nCOPY --from=b http://127.0.0.1 /x\nENV A=http://localhost',
  'a variable that only the base image knows': `FROM a\nADD http://\${HOST}/x /x\nADD $HOST /y`,
  'an operator in the name of a file': `FROM a\nARG V=v1\nADD https://192.0.2.1/x-\${V#v}.tar.gz /x`,
  'only instructions': '# ADD http://127.0.0.1/ /x\nFROM a',
}
for (const [name, dockerfile] of Object.entries(allowed)) {
  test(`a Dockerfile is not refused for ${name}`, async () => {
    await check(dockerfile)
  })
}

test('a name that resolves to such an address is refused', async () => {
  const resolve = async (host: string) => [host === 'trap.example' ? '127.0.0.1' : '192.0.2.1']

  await assertPublicSources('FROM a\nADD http://fine.example/ /x', {}, resolve)
  await assert.rejects(assertPublicSources('FROM a\nADD http://trap.example/ /x', {}, resolve), {
    message:
      'ADD http://trap.example/: trap.example resolves to 127.0.0.1, ' +
      'a loopback, link-local or metadata address, which a build may not read',
  })
})
