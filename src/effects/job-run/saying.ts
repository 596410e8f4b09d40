// What Berth says in the log of a run before its command says anything.
// Mind: an effect begins again with the daemon, and nobody wants to read the same twice.
import { openActorLog } from '../actor-log.ts'
import type { Host } from '../host.ts'

/** Says it, unless it was the last thing that was said. It is written before the next step: a kill keeps it. */
export async function sayOnce(host: Host, id: string, line: string): Promise<void> {
  if ((await lastSaid(host, id)) === line) return
  openActorLog(host, 'job', id).say(line)
  await host.storage.logs.flush(id)
}

export async function lastSaid({ storage: { logs } }: Host, id: string): Promise<string | null> {
  await logs.flush(id)
  const [last] = await logs.tail(id, 1)
  return last?.line ?? null
}
