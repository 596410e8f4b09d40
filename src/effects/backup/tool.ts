// Runs a datastore's own tools, such as pg_dump, in a container of its image: in the datastore's network
// namespace, or in a separate one.
import type {
  OneShotOutcome,
  OneShotSpec,
  OneShotStreams,
} from '../../docker/containers/one-shot-containers.ts'
import type { Command } from '../../docker/exec/exec.ts'
import { Failure } from '../../errors.ts'
import { type Datastore, limitsOf, maskPassword } from '../datastore/access.ts'
import { imageOf } from '../datastore/image.ts'
import type { ToolPorts } from './ports.ts'

export interface ToolRun extends OneShotStreams {
  /** The actor that runs the tool. */
  id: string
  command: Command
  /** Whether the tool reaches the datastore at 127.0.0.1. */
  sharesNetwork: boolean
  volume?: OneShotSpec['volume']
}

/** The tool gets the memory limit of the datastore, and at least the default limit. */
export function runTool(
  ports: ToolPorts,
  { record, name }: Datastore,
  { id, command: { argv, env = {} }, sharesNetwork, volume, ...streams }: ToolRun,
  signal: AbortSignal,
): Promise<OneShotOutcome> {
  const limits = limitsOf(ports, record)
  const memoryLimitMb = Math.max(limits.memoryLimitMb, ports.settings.defaultMemoryLimitMb)
  const image = imageOf(ports, record.kind, record.version)
  const beside = sharesNetwork ? name : null
  const spec = { ...limits, memoryLimitMb, id, image, argv, env, beside, ...(volume && { volume }) }
  return ports.tools.run(spec, streams, signal)
}

/** Throws that code with the reason if the tool fails. */
export async function useTool(
  ports: ToolPorts,
  datastore: Datastore,
  run: ToolRun,
  code: string,
  signal: AbortSignal,
): Promise<OneShotOutcome> {
  const outcome = await runTool(ports, datastore, run, signal)
  const complaint = findToolError(outcome, datastore)
  if (complaint !== null) throw new Failure(code, complaint)
  return outcome
}

/** The last lines of its error output, without the password; null if it succeeded. */
export function findToolError(outcome: OneShotOutcome, { credentials }: Datastore): string | null {
  if (outcome.exitCode === 0) return null
  if (outcome.isOutOfMemory) return 'it was killed at its memory limit'
  const lines = outcome.stderr.split('\n').map((line) => line.trim())
  const line =
    lines.findLast((line) => /error|fatal|refused/i.test(line)) ?? lines.findLast((line) => line !== '')
  return maskPassword(line ?? `exit code ${outcome.exitCode}`, credentials).slice(0, 300)
}
