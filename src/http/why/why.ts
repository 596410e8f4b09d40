// Explains an outcome, in the same format for every record that can fail.

import type { Why } from '../../api/parts/failure.ts'
import type { HttpStorage } from '../pipeline/context.ts'
import type { Advice, FailedRecord } from './advice.ts'
import { excerptOf, noExcerpt, phasesOf } from './diagnosis.ts'

export interface ExplainedRecord extends FailedRecord {
  id: string
  status: string
  error: string | null
  phase?: string | null
}

/** The number of log lines that are read. A failed step writes its last lines near the end. */
const tailLines = 500

export async function explain(
  { actors, logs }: Pick<HttpStorage, 'actors' | 'logs'>,
  record: ExplainedRecord,
  { advice, hasLog }: { advice: Advice | null; hasLog: boolean },
): Promise<Why> {
  const { id, status, phase = null, error, error_code: code = null, error_details: details = null } = record
  const isRead = hasLog && error !== null
  const excerpt = isRead ? excerptOf(await logs.tail(id, tailLines)) : noExcerpt
  return {
    ...{ id, status, phase, reason: error, code: code as Why['code'], details },
    ...excerpt,
    ...{ hint: advice?.hint ?? null, commands: advice?.commands ?? [] },
    phases: phasesOf(actors.history(id), Date.now()),
  }
}
