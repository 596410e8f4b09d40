// Whether the engine was restarted after it started a container: then the cause of the container's end is
// unknown. The engine keeps its events in memory, so a start that it does not remember was before a restart.

import type { InstanceState } from '../containers/instances.ts'
import type { Engine } from './client.ts'
import { streamLines } from './stream-lines.ts'

/** True too when so much happened since that the engine forgot (it keeps 256 events); that does no harm. */
export async function wasEngineRestarted(
  { call, docker }: Engine,
  { containerId, startedAt }: InstanceState,
): Promise<boolean> {
  if (startedAt === null) return false
  const filters = { container: [containerId], event: ['start' as const] }
  const since = Date.parse(startedAt) / 1000 - 1
  // What is past already: the answer ends with it.
  const until = Date.now() / 1000
  const events = await call('look back at events', (abortSignal) =>
    docker.getEvents({ since, until, filters, abortSignal }),
  )
  for await (const _ of streamLines(events)) return false
  return true
}
