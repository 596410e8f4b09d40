// The built daemon, as in production, with its own Docker prefix.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Api, createApi } from '../support/daemon/api.ts'
import { bare } from '../support/daemon/daemon.ts'
import { findLeftovers, removeLeftovers } from '../support/daemon/leftovers.ts'
import { until } from '../support/daemon/service.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import type { Bench } from './bench.ts'
import { endProcess } from './built.ts'

export interface Berthd {
  pid: number
  /** The server's origin. */
  url: string
  headers: { authorization: string }
  /** Checks every response, so it must not be used for timed requests. */
  readonly api: Api
  prefix: string
  /** By the clock of `performance.now()`. */
  spawnedAt: number
  /** The heap in use after a garbage collection; only with `probed`. */
  usedMegabytes(): Promise<number>
  end(): Promise<void>
}

export interface BerthdOptions {
  probed?: boolean
  /** Further options of the daemon; later ones win. */
  args?: string[]
}

/** Starts it on the data directory and waits until it is up. Stopped at the end of the part. */
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
  const lines = createInterface({ input: child.stdout! })
  const usedMegabytes = async (): Promise<number> => {
    child.kill('SIGUSR2')
    for (;;) {
      const [line] = await once(lines, 'line')
      if (line.startsWith('{')) return JSON.parse(line).usedMegabytes
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
    usedMegabytes,
    end,
  }
}

/** Repeats while something is left: the engine may still execute the daemon's last requests. */
async function removeAll(prefix: string): Promise<void> {
  await until(`nothing of ${prefix} to be left`, async () => {
    await removeLeftovers(prefix)
    return Object.values(await findLeftovers(prefix)).every((names) => names.length === 0)
  })
}

/** Waits until it has reconciled its records with the engine. */
export async function whenHealthy({ url }: Berthd): Promise<void> {
  await until('the daemon to be healthy', async () => (await fetch(`${url}/healthz`)).ok)
}
