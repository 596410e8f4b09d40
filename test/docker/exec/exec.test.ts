// Commands inside a container that runs: what they print, how they end, and who may not be asked.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runInside } from '../../../src/docker/exec/exec.ts'
import { openDockerSite, until } from '../../support/docker/docker-site.ts'

async function start(t: TestContext) {
  const site = await openDockerSite(t)
  const { name } = await site.instances.ensure(await site.spec())
  const run = (argv: string[], env: Record<string, string> = {}, options = {}) =>
    runInside(site, name, { argv, env }, options)
  return { ...site, name, run, script: (text: string, env = {}) => run(['sh', '-c', text], env) }
}

test('a command ends with its exit code, and its outputs are separate', async (t) => {
  const { script, run } = await start(t)

  assert.deepEqual(await script('echo out; echo err >&2; exit 3'), {
    exitCode: 3,
    stdout: 'out\n',
    stderr: 'err\n',
  })
  assert.deepEqual(await run(['true']), { exitCode: 0, stdout: '', stderr: '' })
  assert.deepEqual(await script('kill -9 $$'), { exitCode: 137, stdout: '', stderr: '' })
})

test('arguments and variables arrive byte for byte, without a shell', async (t) => {
  const { run } = await start(t)
  const unusual = '$HOME "a" \'b\' `c` ; & | \\ é 🚀\n'
  assert.equal((await run(['printf', '%s', unusual])).stdout, unusual)
  assert.equal((await run(['sh', '-c', 'printf %s "$ODD"'], { ODD: unusual })).stdout, unusual)
})

test('a missing or stopped container is an error', async (t) => {
  const { engine, owner, instances, name, run } = await start(t)
  const site = { engine, owner }
  await assert.rejects(runInside(site, `${owner.prefix}-none`, { argv: ['true'] }), {
    code: 'docker_error',
    message: `there is no container ${owner.prefix}-none`,
  })
  await instances.stop(name, 0)
  await assert.rejects(run(['true']), { code: 'docker_error', message: /is not running/ })
})

test('a hanging command is abandoned after its timeout, and after an abort', async (t) => {
  const { run, script } = await start(t)
  await assert.rejects(run(['sleep', '600'], {}, { timeoutMs: 300 }), { code: 'docker_unavailable' })

  const waiting = new AbortController()
  const hangs = run(['sh', '-c', 'touch /tmp/begun; sleep 600'], {}, { signal: waiting.signal })
  hangs.catch(() => undefined)
  await until('it to begin', async () => (await script('test -e /tmp/begun')).exitCode === 0)
  waiting.abort(new Error('no longer awaited'))

  await assert.rejects(hangs, { message: 'no longer awaited' })
  assert.equal((await script('echo still here')).stdout, 'still here\n')
})
