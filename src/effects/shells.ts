// Shells in containers, for the API: the clients of datastores (psql, redis-cli), and commands in instances
// and job runs. Their number is limited. An open shell counts until it is closed, even if its start failed.
import type { Instances } from '../docker/containers/instances.ts'
import { jobName } from '../docker/engine/names.ts'
import type { InteractiveExec, InteractiveOptions } from '../docker/exec/interactive-exec.ts'
import { conflict, Failure } from '../errors.ts'
import { findDatastore } from './datastore/access.ts'
import type { DatastorePorts } from './datastore/kind.ts'
import type { JobRunPorts } from './job-run/ports.ts'

export interface Shells {
  /** Reserves a shell immediately; `start` runs it. Throws `unavailable` at the limit. */
  open(place: ShellPlace): Shell
}

/** The container is found at the start: the upgrade of a connection must not wait for Docker. */
export type ShellPlace =
  | { kind: 'datastore'; id: string }
  | { kind: 'job-run'; id: string; serviceId: string }
  /** The standard input of the run itself. */
  | { kind: 'job-input'; id: string }
  /** Without an index, the first instance of the live version that runs. */
  | { kind: 'service'; id: string; index: number | undefined }

export interface ShellStart {
  /** In a datastore the arguments of its client. Elsewhere the command; none for a shell. */
  args: readonly string[]
  terminal: InteractiveOptions['terminal']
}

export type ShellEvents = Pick<InteractiveOptions, 'wrote' | 'ended' | 'failed'>

/** What arrives before the command runs is queued. */
export interface Shell extends InteractiveExec {
  /** Call once. Resolves when the command runs, or after `events.failed`. */
  start(start: ShellStart, events: ShellEvents): Promise<void>
}

type ContainerPorts = Pick<DatastorePorts, 'owner' | 'storage'> & {
  instances: Pick<Instances, 'inspect' | 'list'>
}

type Ports = ContainerPorts &
  Pick<DatastorePorts, 'datastores'> &
  Pick<JobRunPorts, 'runInputs'> & { instances: Pick<Instances, 'open'> }

const maxShells = 16

export function openShells(ports: Ports): Shells {
  const open = new Set<Shell>()
  return {
    open(place) {
      if (open.size >= maxShells) {
        throw new Failure('unavailable', `${maxShells} shells are already open`, 'close one')
      }
      const shell = createShell(ports, place, () => open.delete(shell))
      open.add(shell)
      return shell
    },
  }
}

function createShell(ports: Ports, place: ShellPlace, onClose: () => void): Shell {
  let exec: InteractiveExec | null = null
  let isClosed = false
  const pending: ((exec: InteractiveExec) => void)[] = []
  const whenStarted = (call: (exec: InteractiveExec) => void) => {
    if (exec) call(exec)
    else pending.push(call)
  }
  return {
    async start({ args, terminal }, events) {
      try {
        const started = await run(ports, place, args, { terminal, ...events })
        if (isClosed) return started.close()
        exec = started
        for (const call of pending.splice(0)) call(exec)
      } catch (error) {
        if (!isClosed) events.failed(error)
      }
    },
    write: (bytes, taken) => whenStarted((started) => started.write(bytes, taken)),
    end: () => whenStarted((started) => started.end()),
    resize: (size) => whenStarted((started) => started.resize(size)),
    pause: () => whenStarted((started) => started.pause()),
    resume: () => whenStarted((started) => started.resume()),
    close() {
      isClosed = true
      exec?.close()
      onClose()
    },
  }
}

async function run(
  ports: Ports,
  place: ShellPlace,
  args: readonly string[],
  options: InteractiveOptions,
): Promise<InteractiveExec> {
  if (place.kind === 'datastore') {
    const { name, kind, credentials } = findDatastore(ports, place.id)
    return ports.datastores.open(name, kind.client(credentials, args), options)
  }
  if (place.kind === 'job-input') return ports.runInputs.connect(place.id, options)
  const container = await containerOf(ports, place)
  return ports.instances.open(container, { argv: args.length > 0 ? [...args] : ['/bin/sh'] }, options)
}

export type InstancePlace = Extract<ShellPlace, { kind: 'job-run' | 'service' }>

/** Throws `conflict` if nothing runs there. */
export async function containerOf(
  { storage, owner, instances }: ContainerPorts,
  place: InstancePlace,
): Promise<string> {
  if (place.kind === 'job-run') {
    const name = jobName(owner, storage.nameOf(place.serviceId) ?? '', place.id)
    if ((await instances.inspect(name))?.state === 'running') return name
    throw conflict('the container of this run has not started yet, or has ended', 'try again in a moment')
  }
  const { name = '', live_deploy_id: deployId } = storage.services.get(place.id) ?? {}
  const found = deployId ? await instances.list({ deployId }) : []
  const running = found.filter(({ state }) => state === 'running').sort((a, b) => a.index - b.index)
  const chosen = place.index === undefined ? running[0] : running.find(({ index }) => index === place.index)
  if (chosen) return chosen.name
  const known = running.map(({ index }) => index).join(', ')
  const reason =
    running.length === 0
      ? `no instance of ${name} is running`
      : `no instance ${place.index} of ${name} is running, only ${known}`
  throw conflict(reason, `berth status ${name} shows its instances`)
}
