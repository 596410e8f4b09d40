// A WebSocket of the load: one message per second, each of which must be echoed.
import { randomBytes } from 'node:crypto'
import { WebSocket } from 'ws'
import { timeoutMs } from './plan.ts'
import type { OpenStream } from './streams.ts'

const messageMs = 1000
/** The close code that a client sees without a close frame. */
const abnormal = 1006

export const openWebSocket: OpenStream = ({ host, port }, listener) => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`, {
    headers: { host: `${host}:${port}` },
    perMessageDeflate: false,
    handshakeTimeout: timeoutMs,
  })
  const pending: string[] = []
  let answeredBy: string | string[] | undefined
  let cause = ''
  let timer: NodeJS.Timeout | undefined
  const send = () => {
    const text = randomBytes(24).toString('hex')
    pending.push(text)
    socket.send(text)
  }
  socket.on('upgrade', ({ headers }) => {
    answeredBy = headers['x-answered-by']
  })
  socket.on('open', () => {
    listener.opened(answeredBy)
    send()
    timer = setInterval(send, messageMs)
  })
  socket.on('message', (data) => {
    const [sent, came] = [pending.shift(), String(data)]
    if (came === sent) listener.received()
    else listener.failed(`'${came}' came back for '${sent}'`)
  })
  socket.on('unexpected-response', (_, { statusCode }) =>
    listener.failed(`${statusCode} instead of a WebSocket`),
  )
  socket.on('error', ({ message }) => {
    cause = `: ${message}`
  })
  socket.on('close', (code) => {
    clearInterval(timer)
    listener.gone(code === abnormal ? `cut${cause}` : `close ${code}`)
  })
  return () => {
    clearInterval(timer)
    socket.terminate()
  }
}
