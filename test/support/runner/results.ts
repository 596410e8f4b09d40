// What a run of the tests found: TAP, one line for each file, then the failures again.
export interface TestResult {
  /** With the names of the tests around it. */
  name: string
  problem: string | null
  /** Why it did not run. */
  skipped: string | null
}

export interface FileResult {
  file: string
  milliseconds: number
  tests: TestResult[]
  /** Why the file failed apart from its tests. */
  problem: string | null
}

/** Prints results as they come. The lines of single tests are left out on a terminal. */
export class Results {
  readonly files: FileResult[] = []
  private count = 0
  private readonly isTerminal = process.stdout.isTTY === true

  add(result: FileResult): void {
    this.files.push(result)
    for (const test of resultsIn(result)) this.printTest(test)
    console.log(`# ${result.file}: ${result.tests.length} tests in ${seconds(result)}`)
  }

  /** Prints the failures, the slowest files and the sums. Returns whether everything passed. */
  finish(milliseconds: number): boolean {
    const tests = this.files.flatMap(resultsIn)
    const failed = tests.filter(({ problem }) => problem !== null).length
    const skipped = tests.filter((test) => test.problem === null && test.skipped !== null).length
    if (!this.isTerminal) console.log(`1..${this.count}`)
    for (const file of this.files) printFailures(file)
    console.log('# slowest files')
    for (const file of slowestFirst(this.files).slice(0, 10)) console.log(`#   ${seconds(file)} ${file.file}`)
    console.log(`# files ${this.files.length}`)
    console.log(`# tests ${tests.length}`)
    console.log(`# pass ${tests.length - failed - skipped}`)
    console.log(`# fail ${failed}`)
    console.log(`# skipped ${skipped}`)
    console.log(`# duration_ms ${milliseconds}`)
    return failed === 0
  }

  private printTest({ name, problem, skipped }: TestResult): void {
    this.count += 1
    if (this.isTerminal && problem === null && skipped === null) return
    const reason = skipped === null ? '' : ` # SKIP ${skipped}`
    console.log(
      `${problem === null ? 'ok' : 'not ok'} ${this.count} - ${name.replaceAll('#', '\\#')}${reason}`,
    )
    if (problem !== null) console.log(indent(problem, '#   '))
  }
}

export function slowestFirst(files: readonly FileResult[]): FileResult[] {
  return files.toSorted((a, b) => b.milliseconds - a.milliseconds)
}

/** A file that failed by itself counts as a failed test with its name. */
function resultsIn({ file, tests, problem }: FileResult): TestResult[] {
  return problem === null ? tests : [...tests, { name: file, problem, skipped: null }]
}

function printFailures(file: FileResult): void {
  const failures = resultsIn(file).filter(({ problem }) => problem !== null)
  for (const { name, problem } of failures)
    console.log(`# FAILED ${file.file}: ${name}\n${indent(problem!, '#   ')}`)
}

function indent(text: string, by: string): string {
  return text.replace(/^/gm, by)
}

function seconds({ milliseconds }: { milliseconds: number }): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
