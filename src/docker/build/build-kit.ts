// The default builder: BuildKit, as part of the engine. It requests secrets and credentials in a session.
import { Failure } from '../../errors.ts'
import type { Engine } from '../engine/client.ts'
import {
  attempt,
  type BuildAttempt,
  type BuilderOptions,
  type BuildRequest,
  type ImageBuilder,
  messagesOf,
} from './build.ts'
import { buildFailureFacts, describeBuildFailure } from './build-failure.ts'
import type { LimitWatch } from './build-guard.ts'
import { type BuildLine, createBuildLog, decodeBuildStatus } from './build-log.ts'
import { openBuildSession } from './build-session.ts'

/** One line of the answer: progress, the result, or the error. */
type Message = { error?: string } & (
  | { id: 'moby.buildkit.trace'; aux: string }
  | { id: 'moby.image.id'; aux: { ID: string } }
  | { id?: undefined }
)

export function createBuildKit(engine: Engine, { owner, guard, run }: BuilderOptions): ImageBuilder {
  const buildOnce = (request: BuildRequest) =>
    guard.run((watch) => attempt(engine, owner, request, (started) => buildInSession(started, watch)))
  return {
    build: (request) => run(() => againAfterFaults(request.onLine, () => buildOnce(request))),
    mounts: true,
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
      const [step, reached] = [log.failedStep(), await watch.reachedLimits()]
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

// BuildKit fails some builds because of an error in its own state, mostly after a canceled build with the
// same steps. Another attempt succeeds.

const attempts = 3

/** The author of the Dockerfile can write what comes before. */
const maxFaultLength = 300

class BuilderFault extends Failure {}

/** Null for other errors. `duplicate output`: a COPY restarts whose first build was canceled. */
function faultOf(error: string): string | null {
  const faults = /(?:^|: )(duplicate output \d+|inconsistent graph state.*|buildkit scheduler error: .+)$/
  return faults.exec(error.trim().slice(-maxFaultLength))?.[1] ?? null
}

async function againAfterFaults<T>(onLine: BuildLine, build: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await build()
    } catch (error) {
      if (!(error instanceof BuilderFault) || attempt === attempts) throw error
      onLine('system', 'BuildKit failed with an internal error: retrying the build', null)
    }
  }
}
