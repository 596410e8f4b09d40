// The processes of a step outlive an engine that is killed: for ever those of BuildKit, which no engine knows
// afterwards, and now and then those of a container. We know them by a name in their /etc/hosts. Only
// root on the engine's own machine can see and end them; for everybody else there are none.

import type { Owner } from '../engine/names.ts'
import { createStepSearch } from './build-steps.ts'

/** Ends every step of our builds: to be called while none of them is wanted. Never rejects. */
export async function killOrphans(owner: Owner): Promise<void> {
  for (const pid of await createStepSearch(owner).find()) {
    try {
      // All processes of a step end with its first one.
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has already ended.
    }
  }
}
