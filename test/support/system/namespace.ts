// Runs a test file in its own network, process and mount namespaces. Processes started there can be stopped,
// paused and killed in isolation, and all of them end with the file.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { hasApt, installPackages, isRoot } from './apt.ts'
import { commandEnv, hasCommand, run } from './command.ts'

const marker = 'BERTH_TEST_NAMESPACE'
/** The first process of a namespace inherits what others leave behind, and must collect it. */
const init = [
  'perl',
  '-e',
  'my $first = fork // die; $first or exec @ARGV or die; ' +
    'while ((my $ended = wait) > 0) { exit($? & 127 ? 1 : $? >> 8) if $ended == $first }',
]
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']

/** Whether this is the inner process. */
export const isInside = process.env[marker] !== undefined

/** Why no namespace can be created here, or null. */
export async function whyNoNamespace(): Promise<string | null> {
  if (!isRoot()) return 'needs root'
  if (!hasCommand('ip') && hasApt()) await installPackages(['iproute2'])
  const trial = run('unshare', [...namespaces, 'ip', 'link', 'set', 'lo', 'up'])
  return trial.then(
    () => null,
    (error: Error) => `there can be no namespaces here: ${error.message}`,
  )
}

/** Runs the file again in the namespace. Resolves with its exit code and output lines. */
export async function runInside(
  url: string,
  env: Record<string, string>,
): Promise<{ code: number | null; lines: string[] }> {
  const node = [process.execPath, '--conditions=development', '--import', 'tsx', fileURLToPath(url)]
  const child = spawn('unshare', [...namespaces, ...init, ...node], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // With these variables set, a nested test runner would not run anything.
    env: { ...commandEnv, ...env, NODE_TEST_CONTEXT: undefined, [marker]: '1' },
  })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const [code] = await once(child, 'close')
  return { code: code as number | null, lines }
}

/** For the inner run: brings up loopback, and adds an address at which containers reach the tests. */
export async function openNetwork(address: string): Promise<void> {
  await run('ip', ['link', 'set', 'lo', 'up'])
  await run('ip', ['address', 'add', `${address}/32`, 'dev', 'lo'])
}
