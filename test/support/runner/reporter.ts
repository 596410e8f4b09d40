// Sends the results of a worker to its parent. Prints nothing.
import { inspect } from 'node:util'
import type { FileResult, TestResult } from './results.ts'

interface Finished {
  name: string
  nesting: number
  details: { duration_ms: number; type?: string; error?: Error & { cause?: unknown } }
  skip?: string | boolean
  todo?: string | boolean
}

// biome-ignore lint/style/noDefaultExport: Node loads a reporter by its default export.
export default async function* report(
  events: AsyncIterable<{ type: string; data: Finished }>,
): AsyncGenerator<string> {
  const path: string[] = []
  let tests: TestResult[] = []
  for await (const { type, data } of events) {
    if (type === 'test:start') path.splice(data.nesting, Infinity, data.name)
    if (type !== 'test:pass' && type !== 'test:fail') continue
    path.splice(data.nesting, Infinity, data.name)
    const result: TestResult = {
      name: path.slice(1).join(' > '),
      problem: type === 'test:fail' ? inspect(data.details.error?.cause ?? data.details.error) : null,
      skipped: data.skip === undefined || data.skip === false ? null : String(data.skip),
    }
    if (data.nesting > 0) {
      if (data.details.type !== 'suite') tests.push(result)
      continue
    }
    const file: FileResult = {
      file: data.name,
      milliseconds: data.details.duration_ms,
      tests,
      problem: tests.some(({ problem }) => problem !== null) ? null : result.problem,
    }
    process.send!({ event: 'result', result: file })
    tests = []
  }
  yield ''
}
