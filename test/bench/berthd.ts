// The daemon as it is built and run in production, with a Docker prefix of its own.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Api, createApi } from '../support/api.ts'
import { bare } from '../support/daemon.ts'
import { ensureEngine } from '../support/engine.ts'
import { findLeftovers, removeLeftovers } from '../support/leftovers.ts'
import { until } from '../support/service.ts'
import type { Bench } from './bench.ts'
import { endProcess } from './built.ts'

export interface Berthd {
  pid: number
  /** Of the server, without a path. */
  url: string
  headers: { authorization: string }
  /** A client whose every answer is checked: not for what is timed. */
  readonly api: Api
  prefix: string
  /** Milliseconds on the clock of `performance.now()`. */
  spawnedAt: number
  /** Only with `probed`: see programs/process-probe.ts. */
  probe(): Promise<Probed>
  end(): Promise<void>
}

export interface Probed {
  /** What its objects need once all that nobody uses is gone. */
  usedMegabytes: number
  /** How late the event loop was since the last time, at the 99th percentile. */
  loopDelayMs: number
}

export interface BerthdOptions {
  probed?: boolean
  /** More options of the daemon; later ones win. */
  args?: string[]
}

/** Starts it on the data directory and waits until it says that it is up. It ends with the part. */
export async function startBerthd(
  bench: Bench,
  dataDir: string,
  { probed = false, args: more = [] }: BerthdOptions = {},
): Promise<Berthd> {
  const prefix = `berth-${randomBytes(4).toString('hex')}`
  const options = { 'data-dir': dataDir, listen: '127.0.0.1:0', docker: await ensureEngine(), prefix }
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const probing = ['--expose-gc', `--import=${bench.programs.pathOf('test/bench/programs/process-probe.js')}`]
  const spawnedAt = performance.now()
  const child = bench.programs.spawn(
    'src/main.js',
    [...args, '--min-free-disk=16', ...bare, ...more],
    probed ? probing : [],
  )
  const end = () => endProcess(child)
  bench.after(() => removeAll(prefix))
  bench.after(end)
  const log: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr! }).on('line', (line) => {
      log.push(line)
      const up = /"url":"([^"]+)".*"msg":"berthd listens"/.exec(line)
      if (up) resolve(up[1]!)
    })
    child.once('exit', (code) => reject(new Error(`berthd ended with ${code}: ${log.join('\n')}`)))
  })
  const said = createInterface({ input: child.stdout! })
  const probe = async (): Promise<Probed> => {
    child.kill('SIGUSR2')
    for (;;) {
      const [line] = await once(said, 'line')
      if (line.startsWith('{')) return JSON.parse(line)
    }
  }
  const token = readFileSync(join(dataDir, 'api_token'), 'utf8').trim()
  return {
    pid: child.pid!,
    url,
    headers: { authorization: `Bearer ${token}` },
    get api() {
      return createApi(url, token)
    },
    prefix,
    spawnedAt,
    probe,
    end,
  }
}

/** Again while something is left: the engine may still be at what the daemon asked of it last. */
async function removeAll(prefix: string): Promise<void> {
  await until(`nothing of ${prefix} to be left`, async () => {
    await removeLeftovers(prefix)
    return Object.values(await findLeftovers(prefix)).every((names) => names.length === 0)
  })
}

/** Waits until it has compared what it knows with what runs. */
export async function whenHealthy({ url }: Berthd): Promise<void> {
  await until('the daemon to be healthy', async () => (await fetch(`${url}/healthz`)).ok)
}
