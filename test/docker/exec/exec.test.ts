// Commands inside a container that runs: what they print, how they end, and who may not be asked.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runInside } from '../../../src/docker/exec/exec.ts'
import { openDockerSite, testOwner, until } from '../../support/docker/docker-site.ts'

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

test('64 KiB of the output and 8 of the errors are retained, and the command runs to its end', async (t) => {
  const { script } = await start(t)
  const { exitCode, stdout, stderr } = await script(
    'yes | head -c 300000; yes n | head -c 300000 >&2; exit 5',
  )
  assert.deepEqual([exitCode, stdout.length, stderr.length], [5, 65_536, 8192])
  assert.deepEqual([stdout.slice(0, 4), stderr.slice(0, 4)], ['y\ny\n', 'n\nn\n'])
})

test('a missing command is reported', async (t) => {
  const { run } = await start(t)
  const { exitCode, stdout, stderr } = await run(['no-such-program'])
  assert.ok(exitCode > 0)
  assert.match(stdout + stderr, /no-such-program/)
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

test('nothing runs in a foreign container', async (t) => {
  const { engine, owner, name } = await start(t)
  const foreign = { ...owner, serverId: testOwner().serverId }
  await assert.rejects(runInside({ engine, owner: foreign }, name, { argv: ['true'] }), {
    code: 'docker_error',
    message: `there is no container ${name}`,
  })
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

test('concurrent commands are kept apart', async (t) => {
  const { script } = await start(t)
  const requests = Array.from({ length: 20 }, (_, index) => String(index))
  const outcomes = await Promise.all(requests.map((index) => script(`echo ${index}; exit ${index}`)))
  assert.deepEqual(
    outcomes.map(({ exitCode, stdout }) => [String(exitCode), stdout.trim()]),
    requests.map((index) => [index, index]),
  )
})
