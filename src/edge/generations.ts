// Edges side by side. During an upgrade a newer HAProxy takes the listening sockets from the older one, which
// then finishes its connections. Each generation has its own sockets; it shares all other files.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Place, writeWhole } from './files.ts'
import { openRuntime, type Runtime } from './runtime.ts'
import { readWorkers } from './workers.ts'

/** The frontends that take requests from outside. */
const frontends = ['http', 'https'] as const
const statusColumn = 17
const sessionsColumn = 4

/** Makes its folder. The first generation has its sockets where they were before there were generations. */
export function generationOf(place: Place, generation: number): Place {
  if (generation === place.generation) return place
  const { directory } = place
  const run = generation === 1 ? join(directory, 'run') : join(directory, 'run', String(generation))
  mkdirSync(run, { recursive: true, mode: 0o700 })
  // Without an ending: the path is not longer than that of the first generation.
  const end = generation === 1 ? '.sock' : ''
  return {
    ...place,
    generation,
    adminSocket: join(run, `admin${end}`),
    masterSocket: join(run, `master${end}`),
    verifySocket: join(run, `verify${end}`),
    pidFile: join(run, 'haproxy.pid'),
    output: join(run, 'haproxy.log'),
  }
}

/** The variables by which the configuration finds the sockets of a generation. */
export function environmentOf(place: Place): Record<string, string> {
  if (place.generation === 1) return {}
  return { BERTH_ADMIN_SOCKET: place.adminSocket, BERTH_VERIFY_SOCKET: place.verifySocket }
}

/** All that have files, ascending; the first one where there is none. */
export function listGenerations(place: Place): Place[] {
  const first = generationOf(place, 1)
  const numbers = readdirSync(join(place.directory, 'run')).filter((name) => /^[1-9]\d*$/.test(name))
  const later = numbers.map(Number).sort((a, b) => a - b)
  const hasFirst = later.length === 0 || existsSync(first.adminSocket)
  return [...(hasFirst ? [first] : []), ...later.map((number) => generationOf(place, number))]
}

/** The newest one that accepts connections; null when none does. */
export async function findAccepting(place: Place): Promise<Place | null> {
  for (const one of listGenerations(place).reverse()) if (await isAccepting(one)) return one
  return null
}

/** Whether its worker accepts commands and connections, and its master responds. */
export async function isAccepting(place: Place): Promise<boolean> {
  try {
    const rows = await readFrontends(openRuntime(place.adminSocket))
    if (!rows.every(({ status }) => status === 'OPEN')) return false
    return (await readWorkers(openRuntime(place.masterSocket))).current !== null
  } catch {
    return false
  }
}

/** Ends new connections. Open ones continue, and HAProxy still accepts commands. */
export async function closeListeners(place: Place): Promise<void> {
  const runtime = openRuntime(place.adminSocket)
  for (const name of frontends) await runtime.change(`shutdown frontend ${name}`, /already shut down/)
  if (!existsSync(retiredFile(place))) await writeWhole(retiredFile(place), new Date().toISOString())
}

/** When its listeners were closed; null for one that was not retired. */
export function retiredAt(place: Place): number | null {
  try {
    return Date.parse(readFileSync(retiredFile(place), 'utf8')) || null
  } catch {
    return null
  }
}

/** Whether it has a connection of a client, in any of its workers. Throws when it does not answer. */
export async function hasConnections(place: Place): Promise<boolean> {
  const rows = await readFrontends(openRuntime(place.adminSocket))
  if (rows.some(({ sessions }) => sessions > 0)) return true
  const { old } = await readWorkers(openRuntime(place.masterSocket))
  return old.length > 0
}

/** Of a generation that has ended. */
export function removeFiles(place: Place): void {
  const run = dirname(place.adminSocket)
  if (place.generation > 1) rmSync(run, { recursive: true, force: true })
  if (place.generation > 1) return
  const { adminSocket, masterSocket, verifySocket, pidFile, output } = place
  for (const path of [adminSocket, masterSocket, verifySocket, pidFile, output, retiredFile(place)]) {
    rmSync(path, { force: true })
  }
}

function retiredFile(place: Place): string {
  return join(dirname(place.adminSocket), 'retired')
}

interface FrontendRow {
  sessions: number
  status: string
}

async function readFrontends(runtime: Runtime): Promise<FrontendRow[]> {
  const answers = await Promise.all(frontends.map((name) => runtime.ask(`show stat ${name} 1 -1`)))
  return answers.map((text) => {
    const fields =
      text
        .split('\n')
        .find((line) => /^https?,FRONTEND,/.test(line))
        ?.split(',') ?? []
    return { sessions: Number(fields[sessionsColumn] ?? 0), status: fields[statusColumn] ?? '' }
  })
}
