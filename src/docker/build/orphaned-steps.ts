// The processes of a build step can outlive a killed engine: those of BuildKit always, those of a container
// sometimes, and no engine knows them afterwards. They are identified by a name in their /etc/hosts. Only
// root on the engine's machine can see and end them; without root the list is empty.

import type { Owner } from '../engine/names.ts'
import { createStepSearch } from './build-steps.ts'

/** Kills every step of this server's builds. Call it only while no build should be running. Never rejects. */
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
