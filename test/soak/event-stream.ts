// An event stream of the load: its events are numbered without gaps.
import { request as openRequest } from 'node:http'
import type { OpenStream } from './streams.ts'

export const openEventStream: OpenStream = ({ host, port }, listener) => {
  const request = openRequest({
    host: '127.0.0.1',
    port,
    path: '/events',
    agent: false,
    headers: { host: `${host}:${port}`, accept: 'text/event-stream' },
  })
  let count = 0
  let text = ''
  let isGoodbye = false

  function take(line: string): void {
    if (line === 'event: goodbye') isGoodbye = true
    const [, number] = /^data: (\d+)$/.exec(line) ?? []
    if (number === undefined) return
    if (Number(number) === ++count) listener.received()
    else listener.failed(`event ${number} came as the ${count}.`)
  }

  request.on('response', (response) => {
    if (response.statusCode !== 200) return listener.failed(`${response.statusCode} instead of events`)
    listener.opened(response.headers['x-answered-by'])
    response.on('data', (chunk: Buffer) => {
      const lines = (text + chunk.toString()).split('\n')
      text = lines.pop()!
      for (const line of lines) take(line)
    })
    response.on('end', () => listener.gone(isGoodbye ? 'goodbye' : 'ended'))
    response.on('error', ({ message }) => listener.gone(`cut: ${message}`))
  })
  request.on('error', ({ message }) => listener.gone(`cut: ${message}`))
  request.end()
  return () => request.destroy()
}
