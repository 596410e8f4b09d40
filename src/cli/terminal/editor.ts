// Opens a text in the user's editor. The text may contain secrets: the file is readable by the user only, and
// removed afterwards.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes, usageFailure } from '../failure.ts'
import { readFileOrInput } from './standard-input.ts'

const maxMib = 16
const terminationSignals = ['SIGHUP', 'SIGTERM'] as const

/** Returns the saved text. Throws without a terminal, and when the editor fails. */
export async function editText(cli: Cli, text: string, name: string): Promise<string> {
  const { env, out } = cli
  if (!out.canAsk) throw usageFailure('an editor needs a terminal', 'berth env import NAME - reads a pipe')
  const folder = mkdtempSync(join(env.XDG_RUNTIME_DIR || tmpdir(), 'berth-edit-'))
  const path = join(folder, name)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const leave = () => process.exit(exitCodes.interrupted)
  // Removes the file however this process ends.
  process.once('exit', remove)
  for (const signal of terminationSignals) process.once(signal, leave)
  try {
    writeFileSync(path, text, { mode: 0o600 })
    await runEditor(cli, path)
    return await readFileOrInput(cli, path, maxMib)
  } finally {
    remove()
    process.off('exit', remove)
    for (const signal of terminationSignals) process.off(signal, leave)
  }
}

// `code --wait` is a program with an argument. Quotes are not supported, because no shell is used.
async function runEditor({ env, cwd }: Cli, path: string): Promise<void> {
  const editor = env.VISUAL || env.EDITOR || 'vi'
  const [program = '', ...args] = editor.trim().split(/\s+/)
  const child = spawn(program, [...args, path], { stdio: 'inherit', env, cwd })
  const [code] = await once(child, 'exit').catch((error: Error) => {
    throw new CliFailure(`cannot start ${program}: ${error.message}`, {
      hint: 'set EDITOR to another program',
    })
  })
  if (code !== 0) throw new CliFailure(`${program} exited with ${code}: nothing was saved`)
}
