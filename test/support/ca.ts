// A network of a test file's own with a CA, name servers and a public address in it: what certificates need.
// The file is run twice. Outside it only starts itself inside; there its tests are.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type ChallengeServer, startChallengeServer } from './challenge-server.ts'
import { temporaryDirectory } from './directory.ts'
import { type NameServer, startNameServer } from './name-server.ts'
import { isInside, openNetwork, runInside, whyNoNamespace } from './namespace.ts'
import { openPebble, type Pebble, preparePebble, whyNoPebble } from './pebble.ts'
import { fileScope } from './scope.ts'

export interface Ca {
  names: NameServer
  /** At `here`, port 80. */
  edge: ChallengeServer
  pebble: Pebble
  /** Ends who stands at port 80: somebody else wants it. */
  freePort(): Promise<void>
}

/** The address of this server. */
export const serverAddress = '203.0.113.10'
/** Of another one: it answers, but knows nothing. */
export const otherAddress = '203.0.113.99'

/** Outside, a test that runs the file inside; `test` of inside does nothing there. */
export async function withCa(url: string): Promise<(name: string, run: Test) => void> {
  if (isInside) return (name, run) => void test(name, run)
  const impossible = (await whyNoNamespace()) ?? (await whyNoPebble())
  test('beside a CA, in a network of its own', { skip: impossible ?? false }, async (t) => {
    const directory = temporaryDirectory(t)
    const authority = await preparePebble(directory)
    const env = { PREPARED: directory, NODE_EXTRA_CA_CERTS: authority }
    const { code, lines } = await runInside(url, env)
    for (const line of lines.filter((line) => /^ *(not )?ok |^ *# /.test(line))) t.diagnostic(line)
    assert.equal(code, 0, lines.join('\n'))
  })
  return () => undefined
}

type Test = (t: TestContext) => Promise<void>

/** Inside: all of it, started. */
export async function openCa(): Promise<Ca> {
  const scope = fileScope()
  await openNetwork(serverAddress)
  await openNetwork(otherAddress)
  const names = await startNameServer(scope)
  const edge = await startChallengeServer(scope, serverAddress)
  const other = await startChallengeServer(scope, otherAddress)
  const directory = process.env.PREPARED!
  const pebble = openPebble(scope, { directory, port: 14_000, nameServer: names.address })
  await pebble.restart()
  return {
    names,
    edge,
    pebble,
    async freePort() {
      await Promise.all([edge.leave(), other.leave()])
    },
  }
}
