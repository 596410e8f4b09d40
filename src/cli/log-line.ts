// One log line as the server sends it.
import type { AccessRecord } from '../api/status.ts'
import { parseEvent } from './client/event-stream.ts'

export interface LogLine {
  ts: string
  stream: string
  line: string
  /** The instance that wrote the line; lines of a deploy's log have none. */
  instance?: string
  deploy_id?: string
  /** Only in access logs: the request. */
  access?: AccessRecord
  /** The event that a `system` line reports about an instance. */
  event?: Record<string, unknown>
  /** The build step of a line in a deploy's log. */
  step?: { number: number; state?: string; name?: string }
  /** A shorter form of the line, shown after the name of the phase. */
  brief?: string
  /** In the log of a job run: `running` when its command starts, `outcome` on the last line. */
  mark?: string
}

/** The data of a `log` event. Throws CliFailure for anything else. */
export function parseLogLine(data: string): LogLine {
  const { ts, stream, line, ...about } = parseEvent<LogLine>(data, ['ts', 'stream', 'line'])
  const { instance, deploy_id, access, event, step, brief, mark } = about
  return {
    ts,
    stream,
    line,
    ...(typeof instance === 'string' && { instance }),
    ...(typeof deploy_id === 'string' && { deploy_id }),
    ...(typeof access?.status === 'number' && { access }),
    ...(typeof event === 'object' && event !== null && { event }),
    ...(typeof step?.number === 'number' && { step }),
    ...(typeof brief === 'string' && { brief }),
    ...(typeof mark === 'string' && { mark }),
  }
}
