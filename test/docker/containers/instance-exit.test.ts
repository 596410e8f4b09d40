import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ExitedProgram,
  explainExit,
  isOutOfMemory,
} from '../../../src/docker/containers/exit-explanation.ts'
import { type DockerSite, openDockerSite, until } from '../../support/docker/docker-site.ts'

test('a process that exceeds the memory limit is reported as killed for it, with its limit', async (t) => {
  const site = await openDockerSite(t)

  const state = await runToEnd(site, 'exec tail /dev/zero')

  assert.equal(isOutOfMemory(state), true)
  assert.equal(
    explainExit(state, { command: null }),
    'was killed for using more than its memory limit of 16 MiB',
  )
})

test('a child killed for memory is not mistaken for the instance', async (t) => {
  const site = await openDockerSite(t)

  const state = await runToEnd(site, 'tail /dev/zero; exit 3')

  assert.deepEqual([state.exitCode, isOutOfMemory(state)], [3, false])
  assert.match(
    explainExit(state, { command: null }),
    /^exited with code 3, after one of its processes was killed/,
  )
})

test('a plain SIGKILL is not mistaken for an out-of-memory kill', async (t) => {
  const site = await openDockerSite(t)

  const state = await runToEnd(site, 'exec sh -c "kill -9 $$"')

  assert.deepEqual([state.exitCode, isOutOfMemory(state)], [137, false])
})

async function runToEnd({ instances, spec }: DockerSite, command: string) {
  const wanted = await spec({ command, memoryLimitMb: 16 })
  await instances.ensure(wanted)
  await until('it ends', async () => (await instances.inspect(wanted.name))?.state === 'exited')
  const state = await instances.inspectExit(wanted.name)
  assert.ok(state)
  return state
}

const server: ExitedProgram = { command: 'node server.js', port: 3000 }
const explain = (exitCode: number | null, oomKilled = false, program = server) =>
  explainExit({ exitCode, startedAt: null, oomKilled, memoryLimitBytes: 512 * 1024 * 1024 }, program)

test('an exit with code 0 is explained by what must keep running, where, and what to change', () => {
  assert.equal(
    explain(0),
    'exited on its own (exit code 0) although it must keep running and listen on port 3000: ' +
      "make 'node server.js' stay in the foreground, or set another start command",
  )
  assert.equal(
    explain(0, false, { command: null }),
    'exited on its own (exit code 0) although it must keep running: ' +
      'make the command of the image stay in the foreground, or set another start command',
  )
})

test('well-known exit codes are explained', () => {
  const words = [1, 125, 126, 127, 137, 139, 143, 250, null].map((code) => explain(code))

  assert.deepEqual(words, [
    'exited with code 1',
    'could not be run by Docker (exit code 125)',
    "could not run 'node server.js': it is not executable (exit code 126)",
    "could not run 'node server.js': command not found (exit code 127)",
    'was ended by SIGKILL (exit code 137)',
    'crashed with a segmentation fault (SIGSEGV, exit code 139)',
    'was ended by SIGTERM (exit code 143)',
    'exited with code 250',
    'never ran',
  ])
})

test('an out-of-memory kill names the limit, and distinguishes the main process from a child', () => {
  assert.equal(explain(137, true), 'was killed for using more than its memory limit of 512 MiB')
  assert.equal(
    explain(1, true),
    'exited with code 1, after one of its processes was killed at the memory limit of 512 MiB',
  )
})
