// Ensures that a container exists. No state is stored between two calls: each call inspects Docker's
// containers. A create request that timed out here and was completed later is therefore adopted and
// not repeated.

import type { Duplex } from 'node:stream'
import type { Container } from 'dockerode'
import { sleep } from '../../async/sleep.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { acceptStatus, hasStatus } from '../engine/client.ts'
import { labels } from '../engine/names.ts'
import { findExecProblem } from './exec-problem.ts'
import {
  type EngineScope,
  findOwnOrRefuse,
  type InspectedContainer,
  removeContainer,
} from './find-container.ts'
import { removeInstance } from './image-volumes.ts'
import { type InstanceState, toInstanceState } from './instance-state.ts'
import type { RestartPolicy, WantedContainer } from './spec.ts'
import { endStaleTask, isTaskLeft } from './stale-task.ts'

const startTimeoutMs = 60_000
/** A name stays in use for a moment while the engine removes the previous container. */
const maxAttempts = 50
const attemptEveryMs = 100

export async function ensureContainer(
  scope: EngineScope,
  wanted: WantedContainer,
  signal?: AbortSignal,
): Promise<InstanceState> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const container = (await adopt(scope, wanted)) ?? (await create(scope, wanted, signal))
    if (container !== null) return bringUp(scope, container, wanted, signal)
    await sleep(attemptEveryMs, signal)
  }
  throw new Failure('docker_error', `the name '${wanted.name}' is still in use by another container`)
}

/** Null after it removed a dead container, one without a network, or one from another request. */
async function adopt(scope: EngineScope, wanted: WantedContainer): Promise<Container | null> {
  const container = await findOwnOrRefuse(scope, wanted.name)
  if (container === null) return null
  const isSame = container.info.Config.Labels[labels.spec] === wanted.hash
  // An upgrade takes a datastore out of its network.
  const isReachable = wanted.runsOnce || Object.keys(container.info.NetworkSettings.Networks).length > 0
  if (isSame && isReachable && toInstanceState(container.info).state !== 'dead') {
    return container.container
  }
  await removeInstance(scope, container)
  return null
}

/** Null if the name came into use. An abort still waits: a container being created is in no list. */
async function create(
  { engine }: EngineScope,
  wanted: WantedContainer,
  signal?: AbortSignal,
): Promise<Container | null> {
  const image = (await wanted.inspectImage?.()) ?? undefined
  const options = wanted.options(await engine.info(), image)
  signal?.throwIfAborted()
  try {
    return await engine.call(`create ${wanted.name}`, (abortSignal) =>
      engine.docker.createContainer({ ...options, abortSignal }),
    )
  } catch (error) {
    if (hasStatus(error, 409)) return null
    throw error
  }
}

async function bringUp(
  scope: EngineScope,
  container: Container,
  wanted: WantedContainer,
  signal?: AbortSignal,
) {
  const inspected = await inspectAgain(scope, container)
  const { state, restart } = toInstanceState(inspected.info)
  if (restart !== wanted.restart) await applyRestart(scope, inspected, wanted.restart)
  if (state === 'created' || (state === 'exited' && !wanted.runsOnce))
    await startOrDiscard(scope, inspected, wanted, signal)
  return toInstanceState((await inspectAgain(scope, container)).info)
}

async function startOrDiscard(
  scope: EngineScope,
  container: InspectedContainer,
  { runsOnce, takeInput }: WantedContainer,
  signal?: AbortSignal,
): Promise<void> {
  try {
    if (takeInput) takeInput(await attachInput(scope, container, signal))
    await startContainer(scope, container, { runsOnce, signal })
  } catch (error) {
    // A refusal leaves a container that never ran. Without a response its state is unknown: the next call
    // inspects it and adopts it.
    if (codeOf(error) !== 'docker_error') throw error
    const problem = await findExecProblem(scope.engine, container).catch(() => null)
    await removeContainer(scope, container)
    throw problem === null
      ? error
      : new Failure('instance_failed', `the command cannot be run: ${problem.text}`)
  }
}

async function attachInput(
  { engine }: EngineScope,
  { container, info }: InspectedContainer,
  signal?: AbortSignal,
): Promise<Duplex> {
  const how = { stream: true, hijack: true, stdin: true, stdout: false, stderr: false }
  const attach = (abortSignal: AbortSignal) => container.attach({ ...how, abortSignal })
  return (await engine.call(`attach to ${info.Name}`, attach, { signal })) as Duplex
}

interface StartOptions {
  /** Does not start the container again if its command may have started already. */
  runsOnce?: boolean
  signal?: AbortSignal | undefined
}

export async function startContainer(
  scope: EngineScope,
  { container, info }: InspectedContainer,
  { runsOnce = false, signal }: StartOptions = {},
): Promise<void> {
  const start = () =>
    scope.engine.call(`start ${info.Name}`, (abortSignal) => container.start({ abortSignal }), {
      timeoutMs: startTimeoutMs,
      signal,
    })
  for (let attempt = 1; ; attempt++) {
    try {
      return await acceptStatus(304, start())
    } catch (error) {
      if (!isTaskLeft(error)) throw error
      await endStaleTask(info.Id)
      if (runsOnce) throw new Failure('docker_error', startedUnrecorded)
      if (attempt === maxAttempts) throw new Failure('docker_error', `${messageOf(error)}; restart Docker`)
      // containerd needs a moment to notice.
      await sleep(attemptEveryMs, signal)
    }
  }
}

const startedUnrecorded =
  'the Docker engine was killed while it started the command, which may have run and was stopped'

export async function applyRestart(
  { engine }: EngineScope,
  { container, info }: InspectedContainer,
  policy: RestartPolicy,
) {
  const change = { RestartPolicy: { Name: policy } }
  await engine.call(`set the restart policy of ${info.Name}`, () => container.update(change))
}

async function inspectAgain(scope: EngineScope, container: Container): Promise<InspectedContainer> {
  const found = await findOwnOrRefuse(scope, container.id)
  if (found === null) throw new Failure('docker_error', 'the container was removed while it was started')
  return found
}
