// The tasks of runs: numbered lines at some pace, marks of their progress, and an exit code.
// Runs send marks to a listener on the host, through the gateway of their network. Each mark is confirmed, so
// their order is the order of events.
import type { Chance } from '../random.ts'

export type TaskKind = 'quick' | 'slow' | 'failing' | 'chatty' | 'stubborn'

export interface Task {
  kind: TaskKind
  /** The number of lines it writes if it is not interrupted. */
  lines: number
  /** A mark and a pause after this many lines. */
  linesAtOnce: number
  pauseSeconds: number
  exitCode: number
  /** Ignores SIGTERM. */
  isStubborn: boolean
}

export function taskOf(kind: TaskKind, chance: Chance): Task {
  const task = { kind, linesAtOnce: 1, pauseSeconds: 0.4, exitCode: 0, isStubborn: false }
  const kinds: Record<TaskKind, () => Task> = {
    quick: () => ({ ...task, lines: 1, pauseSeconds: 0 }),
    slow: () => ({ ...task, lines: chance.whole(6, 14) }),
    failing: () => ({ ...task, lines: chance.whole(1, 4), exitCode: chance.whole(1, 120) }),
    chatty: () => ({ ...task, lines: chance.whole(200, 1200), linesAtOnce: 40, pauseSeconds: 0.2 }),
    stubborn: () => ({ ...task, lines: chance.whole(6, 14), isStubborn: true }),
  }
  return kinds[kind]()
}

/** A script for `sh -c` that sends its marks to that port. */
export function scriptOf(task: Task, port: number): string {
  const { lines, linesAtOnce, pauseSeconds, exitCode, isStubborn } = task
  return [
    `trap '${isStubborn ? '' : 'exit 143'}' TERM`,
    "at=$(ip route | awk '/^default/ {print $3}')",
    `mark() { echo $BERTH_JOB_ID $1 | nc -w 10 $at ${port} || true; }`,
    'mark start',
    'n=0',
    `while [ $n -lt ${lines} ]; do n=$((n + 1)); echo "line $n of ${lines}"`,
    `if [ $((n % ${linesAtOnce})) -eq 0 ]; then mark line; sleep ${pauseSeconds}; fi; done`,
    'mark end',
    `exit ${exitCode}`,
  ].join('; ')
}
