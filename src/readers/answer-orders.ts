// The side of a reader process: runs the task of each order, and reports its outcome.
import { Failure, messageOf } from '../errors.ts'
import type { Order, Report } from './readers.ts'

/** Each loads its task. */
type Tasks = Record<string, () => Promise<(input: never) => unknown>>

export function answerOrders(tasks: Tasks): void {
  const send = (report: Report) => process.send!(report)
  process.on('message', async ({ name, input }: Order) => {
    try {
      const run = await tasks[name]!()
      send({ is: 'loaded' })
      send({ is: 'done', value: await run(input as never) })
    } catch (error) {
      send(toReport(error))
    }
  })
  process.on('disconnect', () => process.exit())
}

function toReport(error: unknown): Report {
  if (!(error instanceof Failure)) return { is: 'broken', message: messageOf(error) }
  const { code, message, hint, details, facts } = error
  return { is: 'failed', failure: { code, message, hint, details, facts } as Failure }
}
