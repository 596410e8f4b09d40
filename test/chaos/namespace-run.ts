// A run of chaos inside a namespace with an engine of its own. Log lines go to stderr.
import type { Prepared } from '../crash/part.ts'
import { reportRun } from '../support/docker/namespace-run.ts'
import { type ChaosOptions, runChaos } from './run.ts'

export type Passed = ChaosOptions & { directory: string; prepared: Prepared }

const { directory, prepared, ...options } = JSON.parse(process.env.CHAOS_RUN!) as Passed
const log = (line: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`)

await reportRun(directory, (setting) => runChaos(options, { ...setting, prepared, log }))
