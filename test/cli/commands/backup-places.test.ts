// `berth backup-places`: secrets are never arguments, and what is wrong with a bucket is said at once.
import { equal, match } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runBerth } from '../../support/cli/berth.ts'
import { startApi, token } from '../../support/http/http-context.ts'

async function start(t: TestContext) {
  const api = await startApi(t)
  const env = { BERTH_SERVER: api.url, BERTH_TOKEN: token }
  const berth = (args: string[], input = '') => runBerth(t, ['backup-places', ...args], { env, input })
  return { api, berth }
}

const bucket = ['--endpoint', 'http://127.0.0.1:1', '--bucket', 'shop', '--key-id', 'key']

test('a bucket that does not work is added, and the reason is shown', async (t) => {
  const { api, berth } = await start(t)

  const added = await berth(['add', 'offsite', ...bucket], 'canary-secret\n')

  equal(added.code, 1)
  const words =
    /✘ offsite: it was added, but does not work yet: cannot write: 127\.0\.0\.1:1: nothing listens/
  match(added.stderr, words)
  match(added.stderr, /check --endpoint and its port/)
  equal(api.storage.backupPlaces.get('offsite')?.secret_access_key, 'canary-secret')
  const { stdout } = await berth([])
  match(
    stdout,
    /^NAME +WHERE +AT *\nfolder +\/\S+ +this server +default\noffsite +s3:\/\/shop\/ +http:\S+ *\n$/,
  )
})

test('a place is tested, made the default, and forgotten', async (t) => {
  const { api, berth } = await start(t)
  await berth(['add', 'offsite', ...bucket], 'canary-secret')

  match((await berth(['test', 'folder'])).stderr, /✔ folder works: a small object was written/)
  equal((await berth(['test', 'offsite'])).code, 1)
  match((await berth(['default', 'offsite'])).stderr, /✔ backups that choose no place go to offsite/)
  const refused = await berth(['rm', 'offsite'])
  match(refused.stderr, /✘ offsite is the place of backups that choose none/)
  match(refused.stderr, /berth backup-places default folder/)
  await berth(['default', 'folder'])
  match((await berth(['rm', 'offsite'])).stderr, /✔ offsite is forgotten; its objects stay in the bucket/)
  equal(api.storage.backupPlaces.get('offsite'), null)
})
