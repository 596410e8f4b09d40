// Sends one body to many addresses at once, and reports when each was answered or given up.
import { request } from 'node:http'
import { constants, setPriority } from 'node:os'

export interface Shot {
  urls: string[]
  headers: Record<string, string>
  body: string | Buffer
}

/** Hundreds of texts that are read one after the other would take an hour. */
const patienceMs = 30_000

// Attackers do not share the processors of a server.
setPriority(constants.priority.PRIORITY_LOW)

process.on('message', async ({ urls, headers, body: text }: Shot) => {
  const body = Buffer.from(text)
  const sent = { ...headers, 'content-length': String(body.length) }
  await Promise.all(urls.map((url) => send(url, body, sent)))
  process.send!('done')
})
process.on('disconnect', () => process.exit())

function send(url: string, body: Buffer, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(patienceMs)
    request(url, { method: 'POST', agent: false, signal, headers }, (response) => {
      response.on('error', resolve).resume().once('close', resolve)
    })
      .once('error', () => resolve())
      .end(body)
  })
}
