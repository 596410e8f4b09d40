// The engine's older builder. It honours a memory limit, which BuildKit does not; it knows no secrets and no
// sessions. Mind: it leaves containers and images of builds that did not end well, see build-leftovers.ts.
import { codeOf, Failure, messageOf } from '../errors.ts'
import { betweenBuilds } from './between-builds.ts'
import { attempt, type BuildAttempt, type Builder, type BuildRequest, messagesOf } from './build.ts'
import {
  type ClassicFacts,
  type ClassicLog,
  type ClassicMessage,
  createClassicLog,
} from './build-classic-log.ts'
import { describeBuildFailure } from './build-failure.ts'
import { type BuildLeftovers, createBuildLeftovers } from './build-leftovers.ts'
import { killOrphans } from './build-orphans.ts'
import { type Engine, hasStatus } from './client.ts'
import { wasKilledForMemory } from './kernel-log.ts'
import type { Owner } from './names.ts'
import { toRegistryConfig } from './registry-credentials.ts'

const mebibyte = 1024 * 1024

export interface ClassicOptions {
  owner: Owner
  /** Of each step; null for none. */
  memoryLimitMb: number | null
}

export function createClassic(engine: Engine, options: ClassicOptions): Builder {
  const leftovers = createBuildLeftovers(engine, options.owner)
  const run = betweenBuilds(async () => {
    await killOrphans(options.owner)
    await leftovers.remove()
  })
  return { build: (request) => run(() => build(engine, options, leftovers, request)) }
}

async function build(
  engine: Engine,
  options: ClassicOptions,
  leftovers: BuildLeftovers,
  request: BuildRequest,
): Promise<{ imageId: string }> {
  const log = createClassicLog(request.onLine)
  try {
    return { imageId: await attempt(engine, options.owner, request, (build) => follow(build, options, log)) }
  } catch (error) {
    leftovers.addBuild(log.facts())
    // The containers of what it calls failed the engine has removed.
    if (codeOf(error) !== 'build_failed') leftovers.suspectContainers()
    throw error
  }
}

async function follow(build: BuildAttempt, options: ClassicOptions, log: ClassicLog): Promise<string> {
  const headers = { 'X-Registry-Config': toRegistryConfig(build.request.registries) }
  const messages = messagesOf<ClassicMessage>(build, toQuery(options), headers)
  try {
    for await (const message of messages) {
      log.push(message)
      if (message.error !== undefined) throw await toBuildFailure(message.error, options, log.facts())
    }
  } catch (error) {
    // A Dockerfile that cannot be read at all is refused before anything begins.
    if (!hasStatus(error, 400)) throw error
    throw new Failure('build_failed', describeBuildFailure(messageOf(error), null))
  }
  const { imageId } = log.facts()
  if (imageId !== null) return imageId
  throw new Failure('docker_unavailable', 'Docker ended the build without a result')
}

function toQuery({ memoryLimitMb }: ClassicOptions): Record<string, unknown> {
  const common = { rm: true, forcerm: true }
  if (memoryLimitMb === null) return common
  const memory = memoryLimitMb * mebibyte
  return { ...common, memory, memswap: memory }
}

async function toBuildFailure(
  error: string,
  { memoryLimitMb }: ClassicOptions,
  { step, containers }: ClassicFacts,
): Promise<Failure> {
  const failedStep = step === null ? null : { name: step, error }
  if (memoryLimitMb === null) return new Failure('build_failed', describeBuildFailure(error, failedStep))
  const container = containers.at(-1)
  const isExceeded = container !== undefined && (await wasKilledForMemory(container))
  const limit = { mib: memoryLimitMb, isExceeded }
  return new Failure('build_failed', describeBuildFailure(error, failedStep, limit))
}
