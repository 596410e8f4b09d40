// Child processes that prepare images, started with an argument array. `sbin` is on their path, where dockerd
// and iptables live and which a plain `su` leaves out.
import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface CommandOptions {
  cwd?: string | undefined
  /** Ends the process; the call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

const searchPath = [process.env.PATH ?? '', '/usr/local/sbin', '/usr/sbin', '/sbin'].join(delimiter)

export const commandEnv: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: searchPath,
  LC_ALL: 'C',
  DEBIAN_FRONTEND: 'noninteractive',
}

/** Runs a program to its end and returns its output. Rejects with its error output if it fails. */
export async function run(command: string, args: string[], options: CommandOptions = {}): Promise<string> {
  const output = await runForBytes(command, args, options)
  return output.toString('utf8')
}

/** The same for output that is not text, up to 1 GiB. */
export async function runForBytes(
  command: string,
  args: string[],
  { cwd, signal }: CommandOptions = {},
): Promise<Buffer> {
  signal?.throwIfAborted()
  const options = { cwd, signal, env: commandEnv, encoding: 'buffer', maxBuffer: 2 ** 30 } as const
  return new Promise((resolve, reject) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout)
      if (signal?.aborted) return reject(signal.reason)
      const reason = stderr.toString('utf8').trim() || error.message
      reject(new Error(`${command} ${args[0] ?? ''} failed: ${reason}`))
    })
  })
}

export function hasCommand(name: string): boolean {
  return searchPath
    .split(delimiter)
    .some((directory) => directory !== '' && isExecutable(join(directory, name)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
