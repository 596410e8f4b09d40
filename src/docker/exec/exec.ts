// Commands inside a running container. Their secrets are passed in the environment, never as arguments. The
// engine cannot kill such a command: an abort closes its streams, and a hanging command stays until its
// container ends.
import { sleep } from '../../async/sleep.ts'
import { Failure } from '../../errors.ts'
import { type EngineScope, findOwn } from '../containers/find-container.ts'
import { type CommandOutput, readOutput } from './command-output.ts'

export interface Command {
  argv: string[]
  env?: Record<string, string>
}

export interface Outcome extends CommandOutput {
  exitCode: number
}

const pollIntervalMs = 50
const endMs = 10_000

/** Runs a short command to its end. Throws `docker_error` when the container does not run. */
export async function runInside(
  scope: EngineScope,
  name: string,
  { argv, env = {} }: Command,
  { signal, timeoutMs = 30_000 }: { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<Outcome> {
  const { engine } = scope
  const container = await findOwn(scope, name)
  if (!container) throw new Failure('docker_error', `there is no container ${name}`)
  const run = async (abortSignal: AbortSignal): Promise<Outcome> => {
    const exec = await container.container.exec({
      Cmd: argv,
      Env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
      AttachStdout: true,
      AttachStderr: true,
      abortSignal,
    })
    const stream = await exec.start({ Detach: false, abortSignal })
    const close = () => stream.destroy()
    abortSignal.addEventListener('abort', close, { once: true })
    const output = await readOutput(stream)
    abortSignal.removeEventListener('abort', close)
    return { ...output, exitCode: await readExitCode(exec, abortSignal) }
  }
  return engine.call(`run ${argv[0]} in ${name}`, run, { timeoutMs, signal })
}

interface Exec {
  inspect(options: { abortSignal: AbortSignal }): Promise<{ Running: boolean; ExitCode: number | null }>
}

/** Its output ends a moment before the engine knows how it ended. */
export async function readExitCode(exec: Exec, abortSignal: AbortSignal): Promise<number> {
  const endAt = performance.now() + endMs
  for (;;) {
    const { Running, ExitCode } = await exec.inspect({ abortSignal })
    if (!Running && ExitCode !== null) return ExitCode
    if (performance.now() > endAt)
      throw new Failure('docker_error', 'the output of the command ended before the command did')
    await sleep(pollIntervalMs, abortSignal)
  }
}
