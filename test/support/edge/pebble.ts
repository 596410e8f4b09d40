// Pebble, the CA for tests, with a TLS certificate of a test authority. Stopped after the test.
// Unlike a real CA, it forgets everything when it stops, including accounts.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hasApt, installPackages } from '../system/apt.ts'
import { commandEnv, hasCommand } from '../system/command.ts'
import type { Scope } from '../system/directory.ts'
import { issueTestCertificate } from './test-certificate.ts'

export interface Pebble {
  directoryUrl: string
  /** Pebble's environment variables, and the validity of its certificates; five years by default. */
  restart(env?: Record<string, string>, validSeconds?: number): Promise<void>
  stop(): Promise<void>
}

interface PebbleOptions {
  /** The directory given to `preparePebble`; its configuration and log are written there too. */
  directory: string
  port: number
  /** `address:port` of its name server. */
  nameServer: string
}

const startMs = 20_000

/** Why Pebble is not available here, or null. */
export async function whyNoPebble(): Promise<string | null> {
  if (hasCommand('pebble')) return null
  if (!hasApt()) return 'needs pebble, the CA for tests: there is no apt-get to install it'
  return installPackages(['pebble']).then(
    () => null,
    (error: Error) => `pebble cannot be installed: ${error.message}`,
  )
}

/** Creates its TLS certificate. Returns the file of the authority that clients must trust. */
export async function preparePebble(directory: string): Promise<string> {
  const { authorityPem, chainPem, keyPem } = await issueTestCertificate(['localhost', '127.0.0.1'])
  const files = { 'authority.pem': authorityPem, 'pebble.pem': chainPem, 'pebble.key': keyPem }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return join(directory, 'authority.pem')
}

/** Not started yet. It validates hosts at port 80. */
export function openPebble(t: Scope, { directory, port, nameServer }: PebbleOptions): Pebble {
  const config = join(directory, `pebble-${port}.json`)
  const log = join(directory, `pebble-${port}.log`)
  const own = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${port + 1}`,
    certificate: join(directory, 'pebble.pem'),
    privateKey: join(directory, 'pebble.key'),
    httpPort: 80,
    tlsPort: 443,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  }
  let running: ChildProcess | null = null

  async function stop(): Promise<void> {
    const ended = running
    running = null
    if (ended?.kill('SIGKILL')) await once(ended, 'exit')
  }
  t.after(stop)

  return {
    directoryUrl: `https://localhost:${port}/dir`,
    stop,
    async restart(env = {}, validSeconds) {
      await stop()
      const validity = validSeconds === undefined ? {} : { certificateValidityPeriod: validSeconds }
      writeFileSync(config, JSON.stringify({ pebble: { ...own, ...validity } }))
      const output = openSync(log, 'a')
      const child = spawn('pebble', ['-config', config, '-dnsserver', nameServer], {
        stdio: ['ignore', output, output],
        env: {
          ...commandEnv,
          PEBBLE_VA_NOSLEEP: '1',
          PEBBLE_WFE_NONCEREJECT: '0',
          PEBBLE_AUTHZREUSE: '0',
          ...env,
        },
      })
      running = child
      const deadline = performance.now() + startMs
      while (!(await answers(port))) {
        const hasEnded = child.exitCode !== null || performance.now() > deadline
        if (hasEnded) throw new Error(`pebble does not start: ${readFileSync(log, 'utf8').slice(-2000)}`)
        await delay(20)
      }
    },
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
