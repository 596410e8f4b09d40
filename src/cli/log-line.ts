// One line of a log as the server sends it (section 6 of the API document).
import { parseEvent } from './event-stream.ts'

export interface LogLine {
  ts: string
  stream: string
  line: string
  /** Which of the instances wrote it; a deploy's log has none. */
  instance?: string
}

/** The data of a `log` event. Throws CliFailure for anything else. */
export function parseLogLine(data: string): LogLine {
  const { ts, stream, line, instance } = parseEvent<LogLine>(data, ['ts', 'stream', 'line'])
  return { ts, stream, line, ...(typeof instance === 'string' ? { instance } : {}) }
}
