// Applies the limits of builds: moves each step into their control group as soon as it runs, and reports
// which limit was reached.
import { sleep } from '../../async/sleep.ts'
import { messageOf } from '../../errors.ts'
import { buildCgroup, type Owner } from '../engine/names.ts'
import { type BuildCgroup, type BuildLimits, openBuildCgroup } from './build-cgroup.ts'
import { createStepSearch } from './build-steps.ts'

export interface BuildGuard {
  /** The limits of all builds of this server together. */
  limits: BuildLimits
  /** The reason why the limits are not enforced; null if they are. */
  notEnforcedReason: string | null
  run<T>(build: (watch: LimitWatch) => Promise<T>): Promise<T>
  /** Kills what lost builds left behind. Call this method only while no build runs. Never rejects. */
  endSteps(): Promise<void>
  close(): void
}

export interface LimitWatch {
  /** The limits that any build has reached since this build began. */
  reachedLimits(): ReachedLimits
}

export interface ReachedLimits {
  limits: BuildLimits
  /** Null when this is unknown. */
  memory: boolean | null
  pids: boolean
}

/** A step runs unlimited for about this long. */
const pauseMs = 50

/** Never throws: what keeps the limits from being in force is in `notEnforcedReason`. */
export function openBuildGuard(engineHost: string, owner: Owner, limits: BuildLimits): BuildGuard {
  const { cgroup, notEnforcedReason } = openGroup(engineHost, owner, limits)
  const search = createStepSearch(owner)
  let running = 0
  const watchSteps = async () => {
    while (running > 0 && cgroup !== null) {
      for (const pid of await search.find()) await cgroup.adopt(pid)
      await sleep(pauseMs)
    }
  }
  return {
    limits,
    notEnforcedReason,
    async run(build) {
      if (running++ === 0) void watchSteps()
      const before = cgroup?.counts()
      const reachedLimits = () => {
        if (!cgroup || !before) return { limits, memory: null, pids: false }
        const { kills, refusals } = cgroup.counts()
        return { limits, memory: kills > before.kills, pids: refusals > before.refusals }
      }
      try {
        return await build({ reachedLimits })
      } finally {
        running--
      }
    },
    endSteps: async () => cgroup?.end(),
    close: () => cgroup?.remove(),
  }
}

function openGroup(
  engineHost: string,
  owner: Owner,
  limits: BuildLimits,
): { cgroup: BuildCgroup | null; notEnforcedReason: string | null } {
  const none = (notEnforcedReason: string) => ({ cgroup: null, notEnforcedReason })
  if (!engineHost.startsWith('unix://')) return none('the engine may run on another machine')
  if (process.getuid?.() !== 0) return none('berthd does not run as root, which may limit processes')
  try {
    return { cgroup: openBuildCgroup(buildCgroup(owner), limits), notEnforcedReason: null }
  } catch (error) {
    return none(`the control group could not be created: ${messageOf(error)}`)
  }
}
