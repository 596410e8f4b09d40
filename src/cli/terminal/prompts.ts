// Prompts, on stderr. Without a terminal, the error names the flag to use instead.

import type { Cli } from '../client/session.ts'
import { CliFailure, interruption, usageFailure } from '../failure.ts'
import { plain } from './output.ts'

export interface Choice {
  value: string
  label: string
  hint?: string
}

interface Question {
  message: string
  /** The alternative without a terminal, such as `--yes creates it`. */
  instead: string
}

/** A yes/no question. The initial choice is no, unless yes is likely and harmless. */
export async function confirm(cli: Cli, question: Question, initialValue = false): Promise<boolean> {
  const { clack, common } = await begin(cli, question)
  return answered(await clack.confirm({ ...common, message: question.message, initialValue }))
}

/** The user types the name of what is lost. `kept` ends the message of the failure: `nothing was deleted`. */
export async function confirmByName(
  cli: Cli,
  { name, effect, kept }: { name: string; effect: string; kept: string },
): Promise<void> {
  const message = `${plain(effect)}. Type its name:`
  const typed = await askText(cli, { message, instead: 'confirm with --yes' })
  if (typed !== name) throw new CliFailure(`the name does not match: ${kept}`)
}

/** Without white space around it. */
export async function askText(cli: Cli, question: Question & { placeholder?: string }): Promise<string> {
  const { clack, common } = await begin(cli, question)
  const { message, placeholder = '' } = question
  const validate = (text?: string) => (text?.trim() ? undefined : 'an answer is needed')
  return answered(await clack.text({ ...common, message, placeholder, validate })).trim()
}

export async function askSecret(cli: Cli, question: Question): Promise<string> {
  const { clack, common } = await begin(cli, question)
  return answered(await clack.password({ ...common, message: question.message }))
}

export async function pick(cli: Cli, question: Question & { choices: Choice[] }): Promise<string> {
  const { clack, common } = await begin(cli, question)
  const options = question.choices
  return answered(await clack.select({ ...common, message: question.message, options, maxItems: 10 }))
}

/** A choice from a long list, which typing narrows down. */
export async function search(cli: Cli, question: Question & { choices: Choice[] }): Promise<string> {
  const { clack, common } = await begin(cli, question)
  const options = question.choices
  return answered(await clack.autocomplete({ ...common, message: question.message, options, maxItems: 10 }))
}

async function begin({ out, signal, stdin, stderr }: Cli, { message, instead }: Question) {
  if (!out.canAsk) throw usageFailure(`not a terminal, cannot ask: ${message}`, instead)
  const clack = await import('@clack/prompts')
  const common = { input: stdin, output: stderr, signal, withGuide: false }
  return { clack, common }
}

function answered<T>(response: T): Exclude<T, symbol> {
  if (typeof response === 'symbol') throw interruption()
  return response as Exclude<T, symbol>
}
