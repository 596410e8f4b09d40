// One line of a log as the server sends it (section 6 of the API document).
import type { AccessRecord } from '../http/schemas/status.ts'
import { parseEvent } from './event-stream.ts'

export interface LogLine {
  ts: string
  stream: string
  line: string
  /** Which of the instances wrote it; a deploy's log has none. */
  instance?: string
  deploy_id?: string
  /** Of an access log: the request that the line tells of. */
  access?: AccessRecord
  /** Of a `system` line about an instance: what happened to it. */
  event?: Record<string, unknown>
}

/** The data of a `log` event. Throws CliFailure for anything else. */
export function parseLogLine(data: string): LogLine {
  const { ts, stream, line, ...about } = parseEvent<LogLine>(data, ['ts', 'stream', 'line'])
  const { instance, deploy_id, access, event } = about
  return {
    ts,
    stream,
    line,
    ...(typeof instance === 'string' && { instance }),
    ...(typeof deploy_id === 'string' && { deploy_id }),
    ...(typeof access?.status === 'number' && { access }),
    ...(typeof event === 'object' && event !== null && { event }),
  }
}
