// The processes of the edge: the master, the serving worker, and older workers that finish open requests.
// After a reload the runtime socket reaches only the new worker; older ones are reached through the master.
import type { Runtime } from './runtime.ts'

export interface Workers {
  current: number | null
  /** Workers from before a reload that still have open connections. */
  old: number[]
}

export async function readWorkers(master: Runtime): Promise<Workers> {
  return parseWorkers(await master.ask('show proc'))
}

export function parseWorkers(text: string): Workers {
  const [now = '', before = ''] = text.split('# old workers')
  const pids = (part: string) => [...part.matchAll(/^(\d+)\s+worker\s/gm)].map(([, pid]) => Number(pid))
  return { current: pids(now)[0] ?? null, old: pids(before) }
}

/** Open requests at each server of a pool, by slot (`s1`), over all workers. */
export async function countOpen(admin: Runtime, master: Runtime, pool: string): Promise<Map<string, number>> {
  const question = `show stat ${pool} 4 -1`
  const { old } = await readWorkers(master)
  const responses = [await admin.ask(question)]
  for (const pid of old) responses.push(await master.ask(`@!${pid} ${question}`).catch(() => ''))
  const open = new Map<string, number>()
  for (const { name, count } of responses.flatMap(parseOpen)) open.set(name, (open.get(name) ?? 0) + count)
  return open
}

/** The second column is the server, the fifth its number of requests. */
function parseOpen(text: string): { name: string; count: number }[] {
  const rows = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return rows.map((row) => row.split(',')).map(([, name = '', , , count]) => ({ name, count: Number(count) }))
}
