// What each kind of channel sends to real receivers on this machine, and what it makes of their answers.
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { send } from '../../src/channels/index.ts'
import type { Message } from '../../src/channels/text.ts'
import type { NotificationChannel } from '../../storage/notification-channels.ts'
import { channelOf, noticeOf } from '../support/channels/notifications.ts'
import { cuts, floods, hangs, startReceiver, status } from '../support/channels/receivers.ts'

const signal = new AbortController().signal

function messageOf(changes: Partial<Message> = {}): Message {
  const notice = noticeOf({ title: 'shop & <!channel> is down', body: 'It exited with 1.\n\nberth why shop' })
  const url = 'https://berth.test/services/shop'
  return { id: 'ntf-1', notice, others: null, mayRepeat: false, server: 'berth.test', url, ...changes }
}

async function failureOf(work: Promise<unknown>) {
  const error = (await work.then(
    () => assert.fail('it did not fail'),
    (failure: unknown) => failure,
  )) as { code: string; message: string; facts?: Record<string, unknown> }
  return error
}

test('Slack gets text in which nobody is mentioned, and asks for a pause with 429', async (t) => {
  const { url, received } = await startReceiver(
    t,
    status(200, 'ok'),
    status(429, 'rate_limited', { 'retry-after': '30' }),
  )
  const channel = channelOf({ kind: 'slack', url: `${url}/services/T0/B0/canary`, secret: null })
  assert.equal(await send(channel, messageOf(), signal), 200)
  assert.deepEqual(JSON.parse(received[0]!.body), {
    text:
      '[problem] shop &amp; &lt;!channel&gt; is down\nIt exited with 1.\n\nberth why shop\n\n' +
      'Server: berth.test\n\nhttps://berth.test/services/shop',
  })
  const { code, facts } = await failureOf(send(channel, messageOf(), signal))
  assert.deepEqual([code, facts], ['message_rejected', { status: 429, retry_after_ms: 30_000 }])
})

test('Discord gets at most 2000 characters without mentions, and answers 204 or 429', async (t) => {
  const body = JSON.stringify({ message: 'You are being rate limited.', retry_after: 0.65, global: false })
  const { url, received } = await startReceiver(t, status(204), status(429, body, { 'retry-after': '0.65' }))
  const channel = channelOf({ kind: 'discord', url: `${url}/api/webhooks/1/canary`, secret: null })
  const long = messageOf({ notice: noticeOf({ body: 'x'.repeat(5000) }) })
  assert.equal(await send(channel, long, signal), 204)
  const sent = JSON.parse(received[0]!.body)
  assert.deepEqual([sent.content.length, sent.allowed_mentions], [2000, { parse: [] }])
  assert.equal((await failureOf(send(channel, long, signal))).facts!.retry_after_ms, 650)
})

test('ntfy gets the topic, a priority, and the token as a header', async (t) => {
  const { url, received } = await startReceiver(t, status(200, '{}'), status(403, 'no tk_canary'))
  const channel = channelOf({ kind: 'ntfy', url, topic: 'ops', secret: 'tk_canary' })
  await send(channel, messageOf(), signal)
  const { topic, title, priority, click } = JSON.parse(received[0]!.body)
  assert.deepEqual([topic, priority, click], ['ops', 4, 'https://berth.test/services/shop'])
  assert.equal(title, '[problem] shop & <!channel> is down')
  assert.equal(received[0]!.headers.authorization, 'Bearer tk_canary')
  assert.match((await failureOf(send(channel, messageOf(), signal))).message, /answered 403: no \*\*\*$/)
})

test('the end of an alert has no severity in its title, and is not urgent', async (t) => {
  const { url, received } = await startReceiver(t, status(200))
  const notice = noticeOf({ event: 'alert.recovered', title: 'Recovered: shop is down' })
  await send(channelOf({ kind: 'ntfy', url, topic: 'ops', secret: null }), messageOf({ notice }), signal)
  const { title, priority } = JSON.parse(received[0]!.body)
  assert.deepEqual([title, priority], ['Recovered: shop is down', 2])
})

test('a message that stands for others counts them, and one that may be a repeat says so', async (t) => {
  const { url, received } = await startReceiver(t, status(200))
  const others = { ids: ['a', 'b', 'c'], problems: 1, warnings: 1, infos: 1, titles: ['one', 'two'] }
  const message = messageOf({ others, mayRepeat: true, url: null })
  await send(channelOf({ kind: 'slack', url, secret: null }), message, signal)
  assert.equal(
    JSON.parse(received[0]!.body).text,
    '4 messages of berth.test: 2 problems, 1 warning, 1 note\n- shop &amp; &lt;!channel&gt; is down\n' +
      '- one\n- two\n- and 1 more\n\nberth alerts\n\n(This message may be a repeat.)',
  )
})

test('hostile receivers: an endless answer, a cut, a redirect, and a closed port', async (t) => {
  const { url, received } = await startReceiver(
    t,
    floods,
    cuts,
    status(307, '', { location: 'http://169.254.169.254/' }),
    status(500, `\u001b[31m\u0000<b>\n\nno\u202e ${'y'.repeat(500)}`),
  )
  const channel = channelOf({ url })
  const flooded = await failureOf(send(channel, messageOf(), signal))
  assert.ok(flooded.message.length < 300, flooded.message)
  const cut = await failureOf(send(channel, messageOf(), signal))
  assert.deepEqual([cut.code, cut.facts], ['channel_unreachable', { may_have_arrived: 1 }])
  const moved = await failureOf(send(channel, messageOf(), signal))
  assert.match(moved.message, /answered 307, which is not followed: use the address that it leads to$/)
  const dirty = await failureOf(send(channel, messageOf(), signal))
  assert.match(dirty.message, /answered 500: \[31m <b> no y+$/)
  assert.ok(dirty.message.length < 250)
  const closed = await failureOf(send(channelOf({ url: 'http://127.0.0.1:1' }), messageOf(), signal))
  assert.match(closed.message, /^127\.0\.0\.1:1 cannot be reached: nothing listens there$/)
  assert.equal(closed.facts, undefined)
  assert.equal(received.length, 4)
})

test('no message is sent to link-local and metadata addresses', async () => {
  for (const host of ['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]', '100.100.100.200']) {
    const { code, message } = await failureOf(
      send(channelOf({ url: `http://${host}/` }), messageOf(), signal),
    )
    assert.deepEqual([code, /link-local or metadata/.test(message)], ['invalid_request', true], host)
  }
  const mail = mailTo(25, { host: '169.254.169.254' })
  assert.match((await failureOf(send(mail, messageOf(), signal))).message, /link-local or metadata/)
})

test('a receiver that hangs is left when the signal ends', async (t) => {
  const { url, received } = await startReceiver(t, hangs)
  const controller = new AbortController()
  const sending = failureOf(send(channelOf({ url }), messageOf(), controller.signal))
  while (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  controller.abort(new Error('late'))
  await sending
})

function mailTo(port: number, changes: Partial<NotificationChannel> = {}): NotificationChannel {
  const people = { from: 'berth@example.com', to: ['ada@example.com', 'grace@example.com'] }
  const server = { host: '127.0.0.1', port, tls: 'none' as const, username: 'berth', secret: 'pass-canary' }
  return channelOf({ kind: 'smtp', ...server, ...people, ...changes })
}

async function startMailServer(t: TestContext, options: SMTPServerOptions = {}) {
  const mails: { to: string[]; content: string }[] = []
  const server = new SMTPServer({
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, callback) =>
      username === 'berth' && password === 'pass-canary'
        ? callback(null, { user: username })
        : callback(new Error(`no such password: ${password}`)),
    onData: async (stream, session, callback) => {
      const content = await text(stream)
      mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), content })
      callback()
    },
    ...options,
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { port: (server.server.address() as { port: number }).port, mails }
}

test('a mail reaches all recipients under the same id, and says that it is no person', async (t) => {
  const { port, mails } = await startMailServer(t)
  assert.equal(await send(mailTo(port), messageOf(), signal), 250)
  const [{ to, content }] = mails as [{ to: string[]; content: string }]
  assert.deepEqual(to, ['ada@example.com', 'grace@example.com'])
  assert.match(content, /^Subject: \[problem\] shop & <!channel> is down\r$/m)
  assert.match(content, /^Message-ID: <ntf-1@berth\.invalid>\r$/m)
  assert.match(content, /^Auto-Submitted: auto-generated\r$/m)
  assert.match(content, /It exited with 1\./)
})

test('a wrong password and a refused recipient are answers, an unsigned certificate is none', async (t) => {
  const { port } = await startMailServer(t, {
    onRcptTo: (_address, _session, callback) =>
      callback(Object.assign(new Error('mailbox full'), { responseCode: 452 })),
  })
  const wrong = await failureOf(send(mailTo(port, { secret: 'other-canary' }), messageOf(), signal))
  assert.deepEqual([wrong.code, wrong.facts], ['message_rejected', { status: 535 }])
  assert.ok(!wrong.message.includes('other-canary'), wrong.message)
  const full = await failureOf(send(mailTo(port), messageOf(), signal))
  assert.deepEqual([full.facts, /mailbox full/.test(full.message)], [{ status: 452 }, true])
  const closed = await failureOf(send(mailTo(1), messageOf(), signal))
  assert.equal(closed.message, '127.0.0.1 cannot be reached: nothing listens there')
  const unsigned = await failureOf(send(mailTo(port, { tls: 'starttls' }), messageOf(), signal))
  assert.deepEqual([unsigned.code, /certificate/.test(unsigned.message)], ['channel_unreachable', true])
})
