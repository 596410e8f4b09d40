// Creating a service whose name is in use.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFakeBerth } from '../../support/cli/berth.ts'
import { problem } from '../../support/cli/fake-server.ts'

const taken = problem(409, 'name_taken', 'the name web is taken', {})
const shown = (state: string) => ({ body: { name: 'web', state } })

test('a service is created as soon as the former one of its name is gone', async (t) => {
  const former = [shown('deleting'), shown('deleting'), problem(404, 'not_found', 'there is none', {})]
  let isGone = false
  const { berth, asked } = await startFakeBerth(t, ({ method }) => {
    if (method === 'POST') return isGone ? { status: 201, body: { name: 'web', repo_url: null } } : taken
    const [next = former[0]!] = former.splice(0, 1)
    isGone = former.length === 0
    return next
  })
  const { code, stderr } = await berth('create', 'web', '--type', 'static_site', '--no-deploy')
  assert.deepEqual([code, stderr.includes('✔ web was created')], [0, true], stderr)
  assert.equal(asked().filter(([method]) => method === 'POST').length, 2)
})

test('a name that is in use is refused, with the commands that show and change its service', async (t) => {
  const { berth } = await startFakeBerth(t, ({ method }) => (method === 'POST' ? taken : shown('live')))
  const { code, stderr } = await berth('create', 'web', '--type', 'static_site')
  assert.equal(code, 1)
  assert.match(stderr, /is taken\n +see it: berth show web\n +change it: berth update web --help\n/)
})
