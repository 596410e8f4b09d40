// What a check looks at, with what a test changes; and engines that say of themselves what a test wants.
import { createServer } from 'node:http'
import { join } from 'node:path'
import { readConfig } from '../../../src/config/config.ts'
import { openEngine } from '../../../src/docker/engine/client.ts'
import type { Examined } from '../../../src/doctor/examined.ts'
import type { Finding } from '../../../src/doctor/finding.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'

interface Changes extends Partial<Examined> {
  options?: string[]
}

export function examined({ options = [], ...changes }: Changes = {}): Examined {
  const config = readConfig(['--data-dir=/nowhere', ...options], {})
  const engine = openEngine('unix:///nowhere/docker.sock')
  return { config, engine, stored: null, storeError: null, pid: process.pid, live: null, ...changes }
}

export const codesOf = (found: Finding[] | string) =>
  typeof found === 'string' ? [] : found.map(({ code }) => code)

/** An engine on a socket that says this of itself. */
export async function engineThat(t: Scope, info: object, version: object = {}, networks: object[] = []) {
  const socket = join(temporaryDirectory(t), 'docker.sock')
  const answers: [path: RegExp, body: object][] = [
    [/\/version$/, { ApiVersion: '1.41', MinAPIVersion: '1.24', ...version }],
    [
      /\/info$/,
      { ServerVersion: '28.2.2', Driver: 'overlay2', CgroupVersion: '2', LoggingDriver: 'local', ...info },
    ],
    [/\/networks/, networks],
  ]
  const server = createServer(({ url = '' }, response) => {
    const [, body = {}] = answers.find(([path]) => path.test(url.split('?')[0]!)) ?? []
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  const engine = openEngine(`unix://${socket}`)
  t.after(() => {
    engine.close()
    server.close()
  })
  return engine
}
