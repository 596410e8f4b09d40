// One open WebSocket. What is sent waits in memory until the client takes it: who sends asks `waitingBytes`.
// Mind: uWS cannot make a client wait. Whoever takes bytes from one agrees with it on how many may be on
// their way.

/** What it needs of uWS. */
interface Wire {
  send(message: string | Uint8Array, isBinary: boolean): number
  getBufferedAmount(): number
  end(code: number, reason: string): void
}

export interface WebSocketListener {
  text(message: string): void
  /** The bytes are the listener's to keep. */
  bytes(message: Buffer): void
  /** Something of what waited has been taken. */
  drained(): void
}

export interface WebSocket {
  isOpen(): boolean
  /** Sent, and not taken by the client. */
  waitingBytes(): number
  /** After the end it does nothing. */
  send(message: string | Uint8Array): void
  /** Before the first message can have come: in the moment of the upgrade. */
  listen(listener: WebSocketListener): void
  /** Called once, whoever ends it; at once when it has ended. */
  onClose(listener: () => void): void
  /** Without a code: because it may not go on, or because the server stops. */
  end(code?: number, reason?: string): void
}

/** The same as its server sees it. */
export interface OpenWebSocket extends WebSocket {
  opened(wire: Wire): void
  received(message: ArrayBuffer, isBinary: boolean): void
  drained(): void
  closed(): void
}

const kib = 1024

export const webSocketLimits = {
  /** Of one message of a client; a longer one ends the connection. */
  maxPayloadLength: 256 * kib,
  /** What uWS would drop; ours is far below that. */
  maxBackpressure: 16 * kib * kib,
  /** A client that does not even answer a ping for as long is gone. */
  idleTimeout: 60,
}

export const closeCodes = { done: 1000, goingAway: 1001, refused: 1008 }

export function createWebSocket(onGone: () => void): OpenWebSocket {
  let isOpen = true
  let wire: Wire | null = null
  let listener: WebSocketListener = { text: () => {}, bytes: () => {}, drained: () => {} }
  const closeListeners = [onGone]

  function closed(): void {
    if (!isOpen) return
    isOpen = false
    for (const each of closeListeners) each()
  }

  return {
    isOpen: () => isOpen,
    waitingBytes: () => (isOpen && wire ? wire.getBufferedAmount() : 0),
    send(message) {
      if (isOpen) wire?.send(message, typeof message !== 'string')
    },
    listen: (next) => {
      listener = next
    },
    onClose(each) {
      if (isOpen) closeListeners.push(each)
      else each()
    },
    end(code = closeCodes.goingAway, reason = '') {
      if (isOpen) wire?.end(code, reason)
    },
    opened: (opened) => {
      wire = opened
    },
    received(message, isBinary) {
      const bytes = Buffer.from(new Uint8Array(message))
      if (isBinary) listener.bytes(bytes)
      else listener.text(bytes.toString('utf8'))
    },
    drained: () => listener.drained(),
    closed,
  }
}
