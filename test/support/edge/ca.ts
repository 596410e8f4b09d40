// A network namespace with a CA, name servers and a public address, for tests of certificates.
// The test file runs twice: the outer run only starts the inner one, which contains the tests.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fileScope } from '../daemon/scope.ts'
import { temporaryDirectory } from '../system/directory.ts'
import { isInside, openNetwork, runInside, whyNoNamespace } from '../system/namespace.ts'
import { type ChallengeServer, startChallengeServer } from './challenge-server.ts'
import { type NameServer, startNameServer } from './name-server.ts'
import { openPebble, type Pebble, preparePebble, whyNoPebble } from './pebble.ts'

export interface Ca {
  names: NameServer
  /** Listens at `serverAddress`, port 80. */
  edge: ChallengeServer
  pebble: Pebble
  /** Closes the server at port 80, so that another one can listen there. */
  freePort(): Promise<void>
}

/** The address of this server. */
export const serverAddress = '203.0.113.10'
/** The address of another server, which responds but knows no challenge. */
export const otherAddress = '203.0.113.99'

/**
 * In the outer run: a test that runs the file in the namespace. `test` in the inner run does nothing there.
 */
export async function withCa(url: string): Promise<(name: string, run: Test) => void> {
  if (isInside) return (name, run) => void test(name, run)
  const impossible = (await whyNoNamespace()) ?? (await whyNoPebble())
  test('with a CA in a separate network', { skip: impossible ?? false }, async (t) => {
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

/** Starts everything; for the inner run. */
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
