// What a server without an account prints: a working link, and how to reach it over ssh.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { fstatSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { invitation, printsToJournal, setupLink } from '../../src/host-commands/setup-link.ts'
import { openSetupCode } from '../../storage/access/setup-code.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

/** Only root can switch to another user. */
const whyNoOtherUser = process.getuid?.() === 0 ? false : 'this needs root'
const code = 'AbC-_123456789012345678x'

/** The trimmed lines. */
function linesFor(url: string, env: NodeJS.ProcessEnv = {}): string[] {
  const output = invitation({ url, code, env })
  assert.ok(output.endsWith('\n'))
  return output.split('\n').map((line) => line.trim())
}

const links = {
  'http://127.0.0.1:7878': `http://127.0.0.1:7878/setup?code=${code}`,
  'http://localhost:7878': `http://localhost:7878/setup?code=${code}`,
  'http://192.0.2.7:80': `http://192.0.2.7/setup?code=${code}`,
  'http://[::1]:7878': `http://[::1]:7878/setup?code=${code}`,
  // These addresses cannot be opened as they are.
  'http://0.0.0.0:7878': `http://127.0.0.1:7878/setup?code=${code}`,
  'http://[::]:7878': `http://127.0.0.1:7878/setup?code=${code}`,
}

for (const [url, link] of Object.entries(links)) {
  test(`listening on ${url}, the daemon prints the link on a separate line`, () => {
    assert.ok(linesFor(url).includes(link), linesFor(url).join('\n'))
  })
}

const user = userInfo().username
const overSsh = { SSH_CONNECTION: '198.51.100.9 51234 192.0.2.7 22' }

test('on loopback it prints an ssh tunnel command with the address of the ssh connection', () => {
  const command = `ssh -N -L 7878:127.0.0.1:7878 ${user}@192.0.2.7`

  assert.ok(linesFor('http://127.0.0.1:7878', overSsh).includes(command))
})

test('the ssh command contains the port even if it is the default port of the URL', () => {
  const command = `ssh -N -L 80:127.0.0.1:80 ${user}@192.0.2.7`

  assert.ok(linesFor('http://127.0.0.1:80', overSsh).includes(command))
})

test('without ssh the command contains the host name', () => {
  const command = `ssh -N -L 7878:localhost:7878 ${user}@${hostname()}`

  assert.ok(linesFor('http://localhost:7878').includes(command))
})

test('a reachable server prints no ssh command', () => {
  assert.doesNotMatch(linesFor('http://192.0.2.7:7878', overSsh).join('\n'), /ssh/)
})

test('a daemon whose user has no name uses the one from its environment', { skip: whyNoOtherUser }, () => {
  const module = JSON.stringify(new URL('../../src/host-commands/setup-link.ts', import.meta.url))
  const program = `const { invitation } = await import(${module})
    process.setuid(54321)
    console.log(invitation({ url: 'http://127.0.0.1:7878', code: 'x', env: { USER: 'ada' } }))`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program]

  const output = execFileSync(process.execPath, args, { encoding: 'utf8' })

  assert.match(output, /ssh -N -L 7878:127\.0\.0\.1:7878 ada@/)
})

test('the command prints the link until the account exists', async (t) => {
  const directory = temporaryDirectory(t)
  const args = ['--data-dir', directory, '--listen', '127.0.0.1:7990']
  await assert.rejects(setupLink(args), { code: 'not_found' })

  const setupCode = openSetupCode(directory)
  const link = `http://127.0.0.1:7990/setup?code=${setupCode.ensure()}`
  assert.ok((await setupLink(args)).includes(link))
  setupCode.saveAddress('http://127.0.0.1:23200')
  assert.match(await setupLink(['--data-dir', directory]), /http:\/\/127\.0\.0\.1:23200\/setup/)

  setupCode.remove()
  await assert.rejects(setupLink(args), { code: 'not_found' })
  await assert.rejects(setupLink(['--data-dir', join(directory, 'none')]), { code: 'not_found' })
})

test('only a standard output that is the journal is taken for it', () => {
  const { dev, ino } = fstatSync(1)

  assert.equal(printsToJournal({ JOURNAL_STREAM: `${dev}:${ino}` }), true)
  assert.equal(printsToJournal({ JOURNAL_STREAM: `${dev}:${ino + 1}` }), false)
  assert.equal(printsToJournal({}), false)
})
