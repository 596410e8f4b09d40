// `berth doctor`: problems first, each with its command, and the exit code for scripts.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startFakeBerth } from '../../support/cli/berth.ts'

const good = { code: 'store', severity: 'good', found: 'opens with its key', why: null, fix: null }
const problem = {
  code: 'file_exposed',
  severity: 'problem',
  found: '/data/secret_key has mode 0644\u001b[2J',
  why: 'Other users of this host may read the secrets of the server.',
  fix: 'chmod 600 /data/secret_key',
}
const warning = { ...problem, code: 'swap_missing', severity: 'warning' }

async function start(t: TestContext, findings: object[]) {
  const { berth } = await startFakeBerth(t, () => ({ body: { checked_at: '2026-01-01', findings } }))
  return berth
}

test('a problem is shown with its reason and its command, and the exit code is 1', async (t) => {
  const berth = await start(t, [problem, good])
  const { code, stdout } = await berth('doctor')
  assert.equal(code, 1)
  assert.match(stdout, /✘ \/data\/secret_key has mode 0644\n {3}Other users[\s\S]*→ chmod 600/)
  assert.match(stdout, /1 problem · 1 good: store\n$/)
  assert.equal(stdout.includes('\u001b[2J'), false)
})

test('warnings do not fail a script, --all names what is good, and --json prints the response', async (t) => {
  const berth = await start(t, [warning, good])
  const whole = await berth('doctor', '--all')
  assert.deepEqual([whole.code, /✔ store {2}opens with its key/.test(whole.stdout)], [0, true])
  const { code, stdout } = await berth('doctor', '--json')
  assert.equal(code, 0)
  assert.deepEqual(JSON.parse(stdout).findings, [warning, good])
})
