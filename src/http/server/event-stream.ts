// One open stream of events, or of the lines of a text file. It has no buffer: writers check `isWritable`
// first and wait for `onWritable`. A reader that leaves no room for a minute is cut.

interface Socket {
  cork(write: () => void): unknown
  write(chunk: string | Uint8Array): boolean
  end(): unknown
  onWritable(listener: () => boolean): unknown
  pause(): unknown
  resume(): unknown
}

const tickMs = 5000
const ticksPerComment = 3
/** The kernel holds up to 4 MiB for a reader, and reports room only when a third of that is free. */
const maxBlockedTicks = 12
const comment = ':\n\n'

/** The head must have been written. `onGone` is called when the stream has ended. A text has no comments. */
export function createEventStream(socket: Socket, onGone: () => void, isText = false) {
  let isOpen = true
  let isBlocked = false
  let onWritable = () => {}
  const closeListeners: (() => void)[] = [onGone]
  /** Since the stream began; while it is blocked, since that began. */
  let ticks = 0
  const heartbeat = setInterval(() => {
    ticks += 1
    if (!isBlocked && !isText && ticks % ticksPerComment === 0) write(comment)
    if (!isBlocked || ticks >= maxBlockedTicks) return
    // This restarts the timeout of uWS: 10 s, too short for a slow reader.
    socket.pause()
    socket.resume()
  }, tickMs)

  function write(frame: string | Uint8Array): void {
    if (!isOpen) return
    socket.cork(() => {
      isBlocked = !socket.write(frame)
      if (isBlocked) ticks = 0
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
