// One open WebSocket. Messages are buffered until the peer reads them, so senders check `bufferedBytes`. uWS
// cannot pause reading, so receivers need a protocol that limits what the peer sends.

interface UwsSocket {
  send(message: string | Uint8Array, isBinary: boolean): number
  getBufferedAmount(): number
  end(code: number, reason: string): void
}

interface WebSocketListener {
  text(message: string): void
  /** The listener owns the bytes. */
  bytes(message: Buffer): void
  /** `bufferedBytes` has decreased. */
  drained(): void
}

const kib = 1024

export const webSocketLimits = {
  /** A longer message from the peer closes the connection. */
  maxPayloadLength: 256 * kib,
  /** uWS drops messages above this; senders stay far below it. */
  maxBackpressure: 16 * kib * kib,
  /** In seconds: a peer that sends nothing for this long, not even a pong, is closed. */
  idleTimeout: 60,
}

export const closeCodes = { done: 1000, goingAway: 1001, refused: 1008 }

export function createWebSocket(onGone: () => void) {
  let isOpen = true
  let uwsSocket: UwsSocket | null = null
  let listener: WebSocketListener = { text: () => {}, bytes: () => {}, drained: () => {} }
  const closeListeners = [onGone]

  function closed(): void {
    if (!isOpen) return
    isOpen = false
    for (const each of closeListeners) each()
  }

  return {
    /** Bytes that were sent but not yet written to the network. */
    bufferedBytes: () => (isOpen && uwsSocket ? uwsSocket.getBufferedAmount() : 0),
    /** Does nothing after the end. */
    send(message: string | Uint8Array): void {
      if (isOpen) uwsSocket?.send(message, typeof message !== 'string')
    },
    /** Must be called during the upgrade, before the first message can arrive. */
    listen: (next: WebSocketListener): void => {
      listener = next
    },
    /** Called once, whichever side closes; immediately when it is closed already. */
    onClose(each: () => void): void {
      if (isOpen) closeListeners.push(each)
      else each()
    },
    /** The default code is for a revoked credential or a server that stops. */
    end(code = closeCodes.goingAway, reason = ''): void {
      if (isOpen) uwsSocket?.end(code, reason)
    },
    opened: (opened: UwsSocket): void => {
      uwsSocket = opened
    },
    received(message: ArrayBuffer, isBinary: boolean): void {
      const bytes = Buffer.from(new Uint8Array(message))
      if (isBinary) listener.bytes(bytes)
      else listener.text(bytes.toString('utf8'))
    },
    drained: () => listener.drained(),
    closed,
  }
}

export type UwsWebSocket = ReturnType<typeof createWebSocket>

export type WebSocket = Omit<UwsWebSocket, 'opened' | 'received' | 'drained' | 'closed'>
