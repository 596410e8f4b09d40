// One open stream of events, or of the lines of a text file. It has no buffer: writers check `isWritable`
// first and wait for `onWritable`. Once it was blocked, uWS closes it after 12 s unless something is written.

interface Socket {
  cork(write: () => void): unknown
  write(chunk: string | Uint8Array): boolean
  end(): unknown
  onWritable(listener: () => boolean): unknown
}

const commentEveryMs = 15_000
const comment = ':\n\n'

/** The head must have been written. `onGone` is called when the stream has ended. A text has no comments. */
export function createEventStream(socket: Socket, onGone: () => void, isText = false) {
  let isOpen = true
  let isBlocked = false
  let onWritable = () => {}
  const closeListeners: (() => void)[] = [onGone]
  const heartbeat = setInterval(() => {
    if (!isBlocked && !isText) write(comment)
  }, commentEveryMs)

  function write(frame: string | Uint8Array): void {
    if (!isOpen) return
    socket.cork(() => {
      isBlocked = !socket.write(frame)
    })
  }

  function close(): void {
    if (!isOpen) return
    isOpen = false
    clearInterval(heartbeat)
    for (const listener of closeListeners) listener()
    onWritable()
  }

  socket.onWritable(() => {
    if (!isOpen) return true
    isBlocked = false
    if (!isText) write(comment)
    if (!isBlocked) onWritable()
    return true
  })

  return {
    /** False while the socket is blocked, and after the end. Do not write then. */
    isWritable: () => isOpen && !isBlocked,
    write,
    /** Called when a blocked socket drains, and at the end. Replaces the previous listener. */
    onWritable: (listener: () => void): void => {
      onWritable = listener
    },
    /** Called once, whichever side ends the stream. */
    onClose(listener: () => void): void {
      if (isOpen) closeListeners.push(listener)
      else listener()
    },
    end() {
      if (!isOpen) return
      socket.cork(() => socket.end())
      close()
    },
    /** The client has disconnected. uWS forbids any further use of the socket. */
    abort: close,
  }
}

export type EventStream = ReturnType<typeof createEventStream>
