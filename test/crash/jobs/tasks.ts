// What the runs of the drill do: numbered lines at some pace, marks of where they are, and an exit code.
// Marks go to whoever listens on the host, by the gateway of the container's network; a run waits until
// each one is answered, so that their order is the order in which things happened.
import type { Chance } from '../chance.ts'

export const taskKinds = ['quick', 'slow', 'failing', 'chatty', 'stubborn'] as const
export type TaskKind = (typeof taskKinds)[number]

export interface Task {
  kind: TaskKind
  /** How many lines it writes when nobody ends it. */
  lines: number
  /** A mark and a pause after so many. */
  linesAtOnce: number
  pauseSeconds: number
  exitCode: number
  /** SIGTERM does not end it. */
  isStubborn: boolean
}

export function taskOf(kind: TaskKind, chance: Chance): Task {
  const task = { kind, linesAtOnce: 1, pauseSeconds: 0.4, exitCode: 0, isStubborn: false }
  switch (kind) {
    case 'quick':
      return { ...task, lines: 1, pauseSeconds: 0 }
    case 'slow':
      return { ...task, lines: chance.whole(6, 14) }
    case 'failing':
      return { ...task, lines: chance.whole(1, 4), exitCode: chance.whole(1, 120) }
    case 'chatty':
      return { ...task, lines: chance.whole(200, 1200), linesAtOnce: 40, pauseSeconds: 0.2 }
    case 'stubborn':
      return { ...task, lines: chance.whole(6, 14), isStubborn: true }
  }
}

/** For `sh -c`; the marks go to that port. */
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
