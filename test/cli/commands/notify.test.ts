// `berth notify`: channels, whose secrets are never arguments, and what became of their messages.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startNotifications } from '../../support/channels/notifications.ts'
import { startReceiver, status } from '../../support/channels/receivers.ts'
import { runBerth } from '../../support/cli/berth.ts'
import { joinActors } from '../../support/http/checked-api.ts'
import { startApi, token } from '../../support/http/http-context.ts'

async function start(t: TestContext) {
  const api = await startApi(t)
  const { supervisor } = startNotifications(t, api.storage)
  joinActors(api.context, supervisor, 'notification', 'ntf-')
  const env = { BERTH_SERVER: api.url, BERTH_TOKEN: token }
  const berth = (args: string[], input = '', more: Record<string, string> = {}) =>
    runBerth(t, ['notify', ...args], { env: { ...env, ...more }, input })
  return { api, berth }
}

test('a webhook is added, shows its secret once, is tested, listed, disabled and deleted', async (t) => {
  const { berth } = await start(t)
  const { url, received } = await startReceiver(t)
  assert.match((await berth([])).stderr, /no channels: berth notify add webhook NAME --url URL/)
  const added = await berth(['add', 'webhook', 'ops', '--url', url, '--min-severity', 'problem'])
  assert.match(added.stdout, /^whsec_\S+\n$/)
  assert.match(
    added.stderr,
    /✔ ops gets messages from problem\n.*only now.*\n +next: berth notify test ops\n/s,
  )
  assert.match((await berth(['test', 'ops'])).stderr, /✔ ops has it: answered 204 in \d+ ms/)
  assert.equal(received.length, 1)
  const { stdout } = await berth(['ls'])
  assert.match(
    stdout,
    /^NAME +KIND +TO +MESSAGES +LAST\nops +webhook +http:\S+ +from problem +delivered just now\n$/,
  )
  assert.match(
    (await berth(['deliveries'])).stdout,
    /ntf-\w+ +just now +ops +delivered +1 +A test of the channel ops\n/,
  )
  assert.match((await berth(['update', 'ops', '--disable'])).stderr, /✔ ops is disabled/)
  assert.match((await berth(['rm', 'ops'])).stderr, /✔ ops is deleted/)
})

test('a failed test says what the receiver answered, and exits with 1', async (t) => {
  const { berth } = await start(t)
  const { url } = await startReceiver(t, status(410, 'channel_is_archived'))
  const added = await berth(['add', 'slack', 'chat'], `${url}/services/canary\n`)
  assert.equal(added.code, 0, added.stderr)
  const { code, stderr } = await berth(['test', 'chat'])
  assert.equal(code, 1)
  assert.match(stderr, /✘ chat did not get it: 127\.0\.0\.1:\d+ answered 410: channel_is_archived\n/)
})

test('secrets come from a pipe or the environment, and an incoming webhook is no argument', async (t) => {
  const { api, berth } = await start(t)
  const refused = await berth(['add', 'slack', 'chat', '--url', 'https://hooks.slack.com/canary'])
  assert.deepEqual([refused.code, /is a secret/.test(refused.stderr)], [2, true], refused.stderr)
  const ntfy = ['add', 'ntfy', 'phone', '--url', 'https://ntfy.sh', '--topic', 'ops', '--with-secret']
  assert.equal((await berth(ntfy, '', { BERTH_NOTIFY_SECRET: 'tk_canary' })).code, 0)
  const mail = [
    'add',
    'smtp',
    'mail',
    '--host',
    'mail.test',
    '--from',
    'a@b.test',
    '--to',
    'c@d.test, e@f.test',
  ]
  assert.equal((await berth([...mail, '--username', 'ada'], 'pass-canary\n')).code, 0)
  const [phone, post] = api.storage.notificationChannels.list()
  assert.deepEqual(
    [phone!.secret, post!.secret, post!.to],
    ['tk_canary', 'pass-canary', ['c@d.test', 'e@f.test']],
  )
  assert.equal((await berth(['update', 'mail', '--with-secret'], 'new\n')).code, 0)
  assert.equal(api.storage.notificationChannels.list()[1]!.secret, 'new')
  assert.ok(!(await berth(['ls', '--json'])).stdout.includes('canary'))
})
