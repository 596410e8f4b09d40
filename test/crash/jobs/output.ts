// Compares the log and record of a run with the expected output and outcome of its command.
import type { Body } from '../../support/daemon/api.ts'
import type { Task } from './tasks.ts'

export interface ShownLine {
  stream: string
  line: string
}

interface EndedRun {
  record: Body
  lines: ShownLine[]
  task: Task
  /** Docker was down or restarted during the run. */
  isEngineDisturbed: boolean
}

const engineMessages = /engine|docker/i

/** Whether its command ran to completion. */
export function hasEndedItself({ record, task }: Pick<EndedRun, 'record' | 'task'>): boolean {
  return record.status !== 'canceled' && record.exit_code === task.exitCode
}

/** Faults of the status and exit code of a run that was not canceled. */
export function endFaults(run: EndedRun): string[] {
  const { record, task, isEngineDisturbed } = run
  if (hasEndedItself(run)) {
    const status = task.exitCode === 0 ? 'succeeded' : 'failed'
    return record.status === status ? [] : [`exited with ${task.exitCode} and is ${record.status}`]
  }
  const label = `${record.status}, exit code ${record.exit_code}: ${record.error}`
  if (!isEngineDisturbed) return [`${task.exitCode} was its exit code, its record has ${label}`]
  if (record.status === 'failed' && engineMessages.test(record.error)) return []
  return [`ended by a restart of Docker, its record has ${label}`]
}

/** Faults of its lines: they must be in order, complete, without duplicates, and end with the outcome. */
export function outputFaults(run: EndedRun): string[] {
  const { lines, task, isEngineDisturbed } = run
  const written = lines.filter(({ stream }) => stream === 'stdout')
  const numbers = written.map(({ line }) => Number(/^line (\d+) of \d+$/.exec(line)?.[1]))
  const wrong = numbers.findIndex((number, index) =>
    // A killed engine may lose lines written during its downtime, but it repeats none.
    isEngineDisturbed ? !(number > (numbers[index - 1] ?? 0)) : number !== index + 1,
  )
  const faults: string[] = []
  if (wrong >= 0) faults.push(`${written[wrong]!.line} is at ${wrong + 1} of its output`)
  const isComplete = hasEndedItself(run) && !isEngineDisturbed
  if (isComplete && numbers.length !== task.lines) faults.push(`${numbers.length} of ${task.lines} lines`)
  const [last, outcome] = [lines.at(-1), outcomeOf(run.record)]
  if (last?.stream !== 'system' || last.line !== outcome)
    faults.push(`its last line is '${last?.line}', its outcome '${outcome}'`)
  return faults
}

function outcomeOf({ status, error }: Body): string {
  if (status === 'succeeded') return 'succeeded'
  return status === 'failed' ? `failed: ${error}` : error
}
