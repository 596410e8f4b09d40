// The engine's older builder. It limits memory and CPU of each step itself; it knows no secrets and no
// sessions. It leaves containers and images of builds that did not end well, see classic-leftovers.ts.
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { wasKilledForMemory } from '../containers/oom-log.ts'
import { type Engine, hasStatus } from '../engine/client.ts'
import type { Owner } from '../engine/names.ts'
import { toRegistryConfig } from '../images/registry-credentials.ts'
import {
  attempt,
  type BuildAttempt,
  type BuildDriver,
  type Builder,
  type BuildRequest,
  messagesOf,
} from './build.ts'
import type { BuildCache } from './build-cache.ts'
import type { BuildLimits } from './build-cgroup.ts'
import {
  type ClassicFacts,
  type ClassicLog,
  type ClassicMessage,
  createClassicLog,
} from './build-classic-log.ts'
import { buildFailureFacts, describeBuildFailure } from './build-failure.ts'
import type { BuildGuard, LimitWatch } from './build-guard.ts'
import { type BuildLeftovers, createBuildLeftovers } from './classic-leftovers.ts'
import { killOrphans } from './orphaned-steps.ts'
import { withCleanup } from './when-idle.ts'

const mebibyte = 1024 * 1024
const cpuperiod = 100_000

export interface ClassicOptions {
  owner: Owner
  guard: BuildGuard
  cache: BuildCache
}

export function createClassic(engine: Engine, options: ClassicOptions): Builder {
  return withCleanup(classicDriver(engine, options), options.cache)
}

export interface ClassicDriverOptions extends Pick<ClassicOptions, 'owner' | 'guard'> {
  /** Throws for a Dockerfile that this builder must not get. Each character of the text is a byte. */
  check?: (dockerfile: string) => void
}

export function classicDriver(engine: Engine, options: ClassicDriverOptions): BuildDriver {
  const leftovers = createBuildLeftovers(engine, options.owner)
  return {
    build: (request) =>
      options.guard.run((watch) => build({ engine, ...options, watch }, leftovers, request)),
    async tidy() {
      await killOrphans(options.owner)
      await leftovers.remove()
    },
  }
}

interface Guarded extends ClassicDriverOptions {
  engine: Engine
  watch: LimitWatch
}

async function build(
  options: Guarded,
  leftovers: BuildLeftovers,
  request: BuildRequest,
): Promise<{ imageId: string }> {
  const log = createClassicLog(request.onLine)
  try {
    const { engine, owner, check } = options
    const run = async (build: BuildAttempt) => {
      check?.(build.context.dockerfileText)
      return follow(build, options, log)
    }
    return { imageId: await attempt(engine, owner, request, run) }
  } catch (error) {
    leftovers.addBuild(log.facts())
    // After `build_failed`, the engine has already removed the containers of the build.
    if (codeOf(error) !== 'build_failed') leftovers.suspectContainers()
    throw error
  }
}

async function follow(build: BuildAttempt, options: Guarded, log: ClassicLog): Promise<string> {
  const headers = { 'X-Registry-Config': toRegistryConfig(build.request.registries) }
  const messages = messagesOf<ClassicMessage>(build, toQuery(options.guard.limits), headers)
  try {
    for await (const message of messages) {
      log.push(message)
      if (message.error !== undefined) throw await toBuildFailure(message.error, options, log.facts())
    }
  } catch (error) {
    // The engine rejects an unparsable Dockerfile with status 400 before any step starts.
    if (!hasStatus(error, 400)) throw error
    throw new Failure('build_failed', describeBuildFailure(messageOf(error), null))
  }
  const { imageId } = log.facts()
  if (imageId !== null) return imageId
  throw new Failure('docker_unavailable', 'Docker ended the build without a result')
}

/** The limits of each step. If possible, the guard limits all steps together. */
function toQuery({ memoryMb, cpus }: BuildLimits): Record<string, unknown> {
  const memory = memoryMb === null ? null : memoryMb * mebibyte
  return {
    rm: true,
    forcerm: true,
    ...(memory === null ? {} : { memory, memswap: memory }),
    ...(cpus === null ? {} : { cpuperiod, cpuquota: Math.round(cpus * cpuperiod) }),
  }
}

async function toBuildFailure(
  error: string,
  { watch }: Guarded,
  { step, containers }: ClassicFacts,
): Promise<Failure> {
  const failedStep = step === null ? null : { name: step, error }
  const limitReached = watch.reachedLimits()
  const container = containers.at(-1)
  const hasLimit = limitReached.limits.memoryMb !== null
  const isKilled = hasLimit && container !== undefined && (await wasKilledForMemory(container))
  const all = { ...limitReached, memory: isKilled || limitReached.memory }
  const failure = new Failure('build_failed', describeBuildFailure(error, failedStep, all))
  return failure.with(buildFailureFacts(failedStep, all))
}
