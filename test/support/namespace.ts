// A test file in a network, a process table and mounts of its own: what it starts there can be stopped,
// paused and killed without anybody else noticing, and all of it is gone when the file has ended.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { hasApt, isRoot } from '../../src/base-images/apt.ts'
import { commandEnv, hasCommand, run } from '../../src/base-images/command.ts'
import { installPackages } from './apt.ts'

const marker = 'BERTH_TEST_NAMESPACE'
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']

/** Whether this process is the one inside. */
export const isInside = process.env[marker] !== undefined

/** Why there cannot be one here; null when there can. */
export async function whyNoNamespace(): Promise<string | null> {
  if (!isRoot()) return 'needs root'
  if (!hasCommand('ip') && hasApt()) await installPackages(['iproute2'])
  const trial = run('unshare', [...namespaces, 'ip', 'link', 'set', 'lo', 'up'])
  return trial.then(
    () => null,
    (error: Error) => `there can be no namespaces here: ${error.message}`,
  )
}

/** Runs the file again inside. Resolves with its exit code and the lines it wrote. */
export async function runInside(
  url: string,
  env: Record<string, string>,
): Promise<{ code: number | null; lines: string[] }> {
  const node = [process.execPath, '--conditions=development', '--import', 'tsx', fileURLToPath(url)]
  const child = spawn('unshare', [...namespaces, ...node], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // A runner that finds its own variables would not run anything.
    env: { ...commandEnv, ...env, NODE_TEST_CONTEXT: undefined, [marker]: '1' },
  })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const [code] = await once(child, 'close')
  return { code: code as number | null, lines }
}

/** Inside: gives the network its loopback, and an address that containers there can reach the tests at. */
export async function openNetwork(address: string): Promise<void> {
  await run('ip', ['link', 'set', 'lo', 'up'])
  await run('ip', ['address', 'add', `${address}/32`, 'dev', 'lo'])
}
