// The questions of `berth create`. An invalid answer is rejected right after its question. The server has
// the same rules and makes the final decision.
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes, usageFailure } from '../failure.ts'
import { plain } from '../terminal/output.ts'
import { askText } from '../terminal/prompts.ts'

const namePattern = /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/
const nameRule =
  'a name has 1 to 40 lower-case letters, digits and dashes, starts with a letter and does not ' +
  'end with a dash'
const sourcePatterns = {
  repo_url: /^(https?:\/\/[^\s/]+\/\S+|ssh:\/\/\S+|[\w.-]+@[\w.-]+:\S+|\/\S+)$/,
  image: /^[a-z0-9][\w.:/@-]*$/,
}
const sourceRules = {
  repo_url: 'an address such as https://example.com/shop.git or git@example.com:ada/shop.git',
  image: 'an image such as ghcr.io/ada/web:v1',
}
const schedulePattern = /^(@[a-z]+|(\S+\s+){4}\S+)$/

/** Throws (usage) for an invalid name. */
export function assertServiceName(name: string): void {
  const complaint = nameProblem(name)
  if (complaint) throw usageFailure(`'${name}' is not a valid name`, complaint)
}

/** Repeats the question while the name is in use. */
export async function askName(cli: Cli): Promise<string> {
  for (;;) {
    const name = await askText(cli, {
      message: 'What is the service called?',
      placeholder: 'shop',
      instead: 'give a name: berth create NAME',
      validate: (text) => nameProblem(text.trim()),
    })
    if (!(await isNameInUse(cli, name.trim()))) return name.trim()
    cli.out.say(` ${cli.out.tint('red', '✘')} ${plain(name)} is in use: choose another name`)
  }
}

export function askSourceAddress(cli: Cli, kind: 'image' | 'repo_url', instead: string): Promise<string> {
  return askText(cli, {
    message: kind === 'image' ? 'Which image?' : 'What is its address?',
    placeholder: kind === 'image' ? 'ghcr.io/ada/web:v1' : 'https://example.com/shop.git',
    instead,
    validate: (text) => (sourcePatterns[kind].test(text.trim()) ? undefined : sourceRules[kind]),
  })
}

export function askSchedule(cli: Cli): Promise<string> {
  return askText(cli, {
    message: 'When does it run? Five fields of cron, in UTC',
    placeholder: '0 3 * * *',
    instead: "set --schedule '0 3 * * *'",
    validate: (text) =>
      schedulePattern.test(text.trim()) ? undefined : 'five fields such as 0 3 * * *, or @daily',
  })
}

function nameProblem(name: string): string | undefined {
  if (name === '') return 'a name, such as shop'
  return namePattern.test(name) ? undefined : nameRule
}

async function isNameInUse({ client }: Cli, name: string): Promise<boolean> {
  const paths = [servicePath(name), `/datastores/${encodeURIComponent(name)}`]
  const areInUse = await Promise.all(
    paths.map((path) =>
      client.call('GET', path).then(
        () => true,
        (error: unknown) => {
          // A token limited to certain services cannot see the others. The server makes the final check of
          // the name.
          if (error instanceof CliFailure && error.exitCode !== exitCodes.unreachable) return false
          throw error
        },
      ),
    ),
  )
  return areInUse.includes(true)
}
