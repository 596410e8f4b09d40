// The builder by default: BuildKit, as part of the engine. It asks for secrets and credentials in a session.
import { Failure } from '../errors.ts'
import { betweenBuilds } from './between-builds.ts'
import { attempt, type BuildAttempt, type Builder, messagesOf } from './build.ts'
import { describeBuildFailure } from './build-failure.ts'
import { type BuildLine, createBuildLog } from './build-log.ts'
import { killOrphans } from './build-orphans.ts'
import { openBuildSession } from './build-session.ts'
import { decodeBuildStatus } from './build-status.ts'
import type { Engine } from './client.ts'
import type { Owner } from './names.ts'

/** One line of the answer: progress, the result, or the error. */
type Message = { error?: string } & (
  | { id: 'moby.buildkit.trace'; aux: string }
  | { id: 'moby.image.id'; aux: { ID: string } }
  | { id?: undefined }
)

export function createBuildKit(engine: Engine, owner: Owner): Builder {
  const run = betweenBuilds(() => killOrphans(owner))
  return { build: (request) => run(() => attempt(engine, owner, request, buildInSession)) }
}

async function buildInSession(build: BuildAttempt): Promise<{ imageId: string }> {
  const session = await openBuildSession(build.engine, build.request, build.request.signal)
  try {
    return await Promise.race([follow(build, session.id), session.lost])
  } finally {
    session.close()
  }
}

async function follow(build: BuildAttempt, session: string): Promise<{ imageId: string }> {
  const log = createBuildLog(withOwnNames(build))
  let imageId: string | null = null
  for await (const message of messagesOf<Message>(build, { version: '2', session })) {
    if (message.error !== undefined) {
      throw new Failure('build_failed', describeBuildFailure(message.error, log.failedStep()))
    }
    if (message.id === 'moby.buildkit.trace') log.push(decodeBuildStatus(message.aux))
    if (message.id === 'moby.image.id') imageId = message.aux.ID
  }
  if (imageId !== null) return { imageId }
  throw new Failure('docker_unavailable', 'Docker ended the build without a result')
}

/** BuildKit tells names as if they were of Docker Hub; ours are on this host only. */
function withOwnNames({ owner, request }: BuildAttempt): BuildLine {
  const own = `${owner.prefix}/`
  return (stream, line) =>
    request.onLine(stream, stream === 'system' ? line.replaceAll(`docker.io/${own}`, own) : line)
}
