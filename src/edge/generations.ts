// Parallel edges. During an upgrade a newer HAProxy takes the listening sockets from the older one, which
// then finishes its connections. Each generation has its own sockets; all other files are shared.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type EdgeFiles, writeAtomically } from './files.ts'
import { openRuntime, type Runtime, readWorkers } from './runtime.ts'

const frontends = ['http', 'https'] as const
const statusColumn = 17
const sessionsColumn = 4

/** Creates its folder. The first generation uses the folder from before generations existed. */
export function generationOf(files: EdgeFiles, generation: number): EdgeFiles {
  if (generation === files.generation) return files
  const { directory } = files
  const run = generation === 1 ? join(directory, 'run') : join(directory, 'run', String(generation))
  mkdirSync(run, { recursive: true, mode: 0o700 })
  // Without an extension, so the path is not longer than that of the first generation.
  const end = generation === 1 ? '.sock' : ''
  return {
    ...files,
    generation,
    adminSocket: join(run, `admin${end}`),
    masterSocket: join(run, `master${end}`),
    verifySocket: join(run, `verify${end}`),
    pidFile: join(run, 'haproxy.pid'),
    output: join(run, 'haproxy.log'),
  }
}

/** The variables by which the configuration finds the sockets of a generation. */
export function environmentOf(files: EdgeFiles): Record<string, string> {
  if (files.generation === 1) return {}
  return { BERTH_ADMIN_SOCKET: files.adminSocket, BERTH_VERIFY_SOCKET: files.verifySocket }
}

/** All generations that have files, in ascending order; the first one if there are none. */
export function listGenerations(files: EdgeFiles): EdgeFiles[] {
  const first = generationOf(files, 1)
  const numbers = readdirSync(join(files.directory, 'run')).filter((name) => /^[1-9]\d*$/.test(name))
  const later = numbers.map(Number).sort((a, b) => a - b)
  const hasFirst = later.length === 0 || existsSync(first.adminSocket)
  return [...(hasFirst ? [first] : []), ...later.map((number) => generationOf(files, number))]
}

/** The newest generation that accepts connections; null if none does. */
export async function findAccepting(files: EdgeFiles): Promise<EdgeFiles | null> {
  for (const one of listGenerations(files).reverse()) if (await isAccepting(one)) return one
  return null
}

/** Whether its worker accepts commands and connections, and its master responds. */
export async function isAccepting(files: EdgeFiles): Promise<boolean> {
  try {
    const rows = await readFrontends(openRuntime(files.adminSocket))
    if (!rows.every(({ status }) => status === 'OPEN')) return false
    return (await readWorkers(openRuntime(files.masterSocket))).current !== null
  } catch {
    return false
  }
}

/** Ends new connections. Open ones continue, and HAProxy still accepts commands. */
export async function closeListeners(files: EdgeFiles): Promise<void> {
  const runtime = openRuntime(files.adminSocket)
  for (const name of frontends) await runtime.change(`shutdown frontend ${name}`, /already shut down/)
  if (!existsSync(retiredFile(files))) await writeAtomically(retiredFile(files), new Date().toISOString())
}

/** When its listeners were closed; null if it is not retired. */
export function retiredAt(files: EdgeFiles): number | null {
  try {
    return Date.parse(readFileSync(retiredFile(files), 'utf8')) || null
  } catch {
    return null
  }
}

/** Whether any of its workers has a connection of a client. Throws if it does not respond. */
export async function hasConnections(files: EdgeFiles): Promise<boolean> {
  const rows = await readFrontends(openRuntime(files.adminSocket))
  if (rows.some(({ sessions }) => sessions > 0)) return true
  const { old } = await readWorkers(openRuntime(files.masterSocket))
  return old.length > 0
}

export function removeFiles(files: EdgeFiles): void {
  const run = dirname(files.adminSocket)
  if (files.generation > 1) rmSync(run, { recursive: true, force: true })
  if (files.generation > 1) return
  const { adminSocket, masterSocket, verifySocket, pidFile, output } = files
  for (const path of [adminSocket, masterSocket, verifySocket, pidFile, output, retiredFile(files)]) {
    rmSync(path, { force: true })
  }
}

function retiredFile(files: EdgeFiles): string {
  return join(dirname(files.adminSocket), 'retired')
}

interface FrontendRow {
  sessions: number
  status: string
}

async function readFrontends(runtime: Runtime): Promise<FrontendRow[]> {
  const responses = await Promise.all(frontends.map((name) => runtime.ask(`show stat ${name} 1 -1`)))
  return responses.map((text) => {
    const fields =
      text
        .split('\n')
        .find((line) => /^https?,FRONTEND,/.test(line))
        ?.split(',') ?? []
    return { sessions: Number(fields[sessionsColumn] ?? 0), status: fields[statusColumn] ?? '' }
  })
}
