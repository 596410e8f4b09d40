// The receiver in the manual takes what the server signs, once, and nothing else.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { send } from '../../src/channels/index.ts'
import { channelOf, noticeOf, secret } from '../support/channels/notifications.ts'
import { eventually } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test('the receiver in the manual verifies the signature, and drops a repeat', async (t) => {
  const manual = readFileSync(new URL('../../docs/notifications.md', import.meta.url), 'utf8')
  const file = `${temporaryDirectory(t)}/receiver.mjs`
  writeFileSync(file, /```js\n(.*?)```/s.exec(manual)![1]!)
  const port = await freePort()
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) }
  const receiver = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => receiver.kill())
  let printed = ''
  receiver.stdout.on('data', (piece) => {
    printed += piece
  })
  const url = `http://127.0.0.1:${port}`
  const message = (id: string, title: string) => {
    const notice = noticeOf({ title })
    return { id, notice, others: null, mayRepeat: false, server: 'berth.test', url: null }
  }
  const { signal } = new AbortController()
  const sendAs = (key: string, id: string, title: string) =>
    send(channelOf({ url, secret: key }), message(id, title), signal)
  let isUp = false
  void poll()
  async function poll() {
    while (!isUp)
      isUp = await fetch(url, { method: 'POST' }).then(
        ({ status }) => status === 401,
        () => false,
      )
  }
  await eventually('the receiver listens', () => isUp)
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
  await assert.rejects(sendAs(other, 'ntf-0', 'forged'), /answered 401/)
  await sendAs(secret, 'ntf-1', 'shop is down')
  await sendAs(secret, 'ntf-1', 'shop is down')
  await sendAs(secret, 'ntf-2', 'shop is up')
  await eventually('both are printed', () => printed.includes('shop is up'))
  assert.equal(printed, 'shop is down\nshop is up\n')
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
