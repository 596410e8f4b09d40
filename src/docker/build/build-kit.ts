// The default builder: BuildKit, as part of the engine. BuildKit requests secrets and credentials through
// a session.
import { Failure } from '../../errors.ts'
import type { Engine } from '../engine/client.ts'
import type { Owner } from '../engine/names.ts'
import {
  attempt,
  type BuildAttempt,
  type BuildDriver,
  type Builder,
  type BuildRequest,
  messagesOf,
} from './build.ts'
import { againAfterFaults, BuilderFault, faultOf } from './build-again.ts'
import type { BuildCache } from './build-cache.ts'
import { buildFailureFacts, describeBuildFailure } from './build-failure.ts'
import type { BuildGuard, LimitWatch } from './build-guard.ts'
import { type BuildLine, createBuildLog } from './build-log.ts'
import { openBuildSession } from './build-session.ts'
import { decodeBuildStatus } from './build-status.ts'
import { killOrphans } from './orphaned-steps.ts'
import { withCleanup } from './when-idle.ts'

/** One line of the answer: progress, the result, or the error. */
type Message = { error?: string } & (
  | { id: 'moby.buildkit.trace'; aux: string }
  | { id: 'moby.image.id'; aux: { ID: string } }
  | { id?: undefined }
)

export interface BuildKitOptions {
  owner: Owner
  guard: BuildGuard
  cache: BuildCache
}

export function createBuildKit(engine: Engine, options: BuildKitOptions): Builder {
  return withCleanup(buildKitDriver(engine, options), options.cache)
}

export function buildKitDriver(
  engine: Engine,
  { owner, guard }: Pick<BuildKitOptions, 'owner' | 'guard'>,
): BuildDriver {
  const buildOnce = (request: BuildRequest) =>
    guard.run((watch) => attempt(engine, owner, request, (started) => buildInSession(started, watch)))
  return {
    build: (request) => againAfterFaults(request.onLine, () => buildOnce(request)),
    async tidy() {
      await guard.endSteps()
      await killOrphans(owner)
    },
  }
}

async function buildInSession(build: BuildAttempt, watch: LimitWatch): Promise<{ imageId: string }> {
  const session = await openBuildSession(build.engine, build.request, build.request.signal)
  try {
    return await Promise.race([follow(build, session.id, watch), session.lost])
  } finally {
    session.close()
  }
}

async function follow(build: BuildAttempt, session: string, watch: LimitWatch): Promise<{ imageId: string }> {
  const { buildArgs, cacheNamespace, onStep } = build.request
  const log = createBuildLog(withOwnNames(build), onStep)
  let imageId: string | null = null
  // The namespace comes last: a value of the user's could name that of another service.
  const buildargs = { ...buildArgs, BUILDKIT_CACHE_MOUNT_NS: cacheNamespace }
  for await (const message of messagesOf<Message>(build, { version: '2', session, buildargs })) {
    if (message.error !== undefined) {
      const [step, reached] = [log.failedStep(), watch.reachedLimits()]
      const reason = describeBuildFailure(message.error, step, reached)
      const FailureOfIt = faultOf(message.error) === null ? Failure : BuilderFault
      throw new FailureOfIt('build_failed', reason).with(buildFailureFacts(step, reached))
    }
    if (message.id === 'moby.buildkit.trace') log.push(decodeBuildStatus(message.aux))
    if (message.id === 'moby.image.id') imageId = message.aux.ID
  }
  if (imageId !== null) return { imageId }
  throw new Failure('docker_unavailable', 'Docker ended the build without a result')
}

/** BuildKit shows image names as if they were on Docker Hub; Berth's images exist only on this host. */
function withOwnNames({ owner, request }: BuildAttempt): BuildLine {
  const ownPrefix = `${owner.prefix}/`
  const shorten = (text: string) => text.replaceAll(`docker.io/${ownPrefix}`, ownPrefix)
  return (stream, line, step) =>
    request.onLine(
      stream,
      stream === 'system' ? shorten(line) : line,
      step?.name ? { ...step, name: shorten(step.name) } : step,
    )
}
