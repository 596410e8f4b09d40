// Detects a server that disappeared without closing the WebSocket. The pings also keep the server from
// closing a shell whose output is paused, for example by a pager: a paused socket does not respond to pings.
import type { WebSocket } from 'ws'

const pingEveryMs = 20_000
const maxUnansweredPings = 3

/** Pings every 20 s; calls `onDead` after a minute without data. Returns a function that stops it. */
export function keepAlive(
  socket: Pick<WebSocket, 'on' | 'ping' | 'isPaused'>,
  onDead: () => void,
): () => void {
  let unansweredPings = 0
  const reset = () => {
    unansweredPings = 0
  }
  for (const event of ['message', 'ping', 'pong'] as const) socket.on(event, reset)
  const timer = setInterval(() => {
    // A paused socket receives nothing.
    if (socket.isPaused) reset()
    if (unansweredPings === maxUnansweredPings) return onDead()
    unansweredPings += 1
    socket.ping()
  }, pingEveryMs)
  return () => clearInterval(timer)
}
