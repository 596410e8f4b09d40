// An HAProxy that Berth does not own. Like most, it binds with SO_REUSEPORT.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openRuntime } from '../../../src/edge/runtime.ts'
import { until } from '../daemon/service.ts'
import { temporaryDirectory } from '../system/directory.ts'

interface ForeignHaproxy {
  /** Whether it has the port; it exits if it cannot bind. */
  isRunning(): boolean
  stop(): Promise<void>
}

/** Responds with 404 on that port. Resolves when it listens or has exited. */
export async function startForeignHaproxy(t: TestContext, port: number): Promise<ForeignHaproxy> {
  const directory = temporaryDirectory(t)
  const configuration = join(directory, 'foreign.cfg')
  const admin = join(directory, 'admin.sock')
  writeFileSync(
    configuration,
    `global
 stats socket ${admin}
defaults
 mode http
 timeout client 10s
 timeout server 10s
 timeout connect 1s
frontend foreign
 bind *:${port}
 http-request return status 404 content-type text/plain string foreign
`,
  )
  const child = spawn('haproxy', ['-db', '-f', configuration], { stdio: 'ignore' })
  const isRunning = () => child.exitCode === null && child.signalCode === null
  const stop = async () => {
    if (!isRunning()) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  t.after(stop)
  const listens = async () => (await openRuntime(admin).ask('show info')).includes('Pid:')
  await until('the other HAProxy to listen or end', async () => !isRunning() || (await listens()))
  return { isRunning, stop }
}
