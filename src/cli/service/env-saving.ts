// Reads and saves the variables of a service, and restarts the service with the saved variables on request.

import type { ChangeEnv, EnvVar, ShownEnvVar } from '../../api/env.ts'
import type { Service } from '../../api/service.ts'
import { count } from '../../quantities.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { withoutSecrets } from '../failure.ts'
import { followUp, printDone, printNext, printUndo } from '../follow-up.ts'

export interface SavingOptions {
  restart?: boolean
  follow: boolean
}

/** Saved variables apply to the next deploy, or immediately with a restart. */
export function addSavingOptions(command: BerthCommand): BerthCommand {
  return command
    .option('--restart', 'restart the service afterwards')
    .option('--no-follow', 'do not wait for the restart')
}

/** The variables; without values if the token may not read them. */
export function readShownEnv({ client }: Cli, name: string): Promise<ShownEnvVar[]> {
  return client.call<ShownEnvVar[]>('GET', `${servicePath(name)}/env`)
}

/** The variables with their values. Throws (refused) for a token that may not read them. */
export async function readEnv(cli: Cli, name: string): Promise<EnvVar[]> {
  return (await readShownEnv(cli, name)).map(({ key, value }) => {
    if (value === null) throw withoutSecrets(cli.server.url, 'the values of variables')
    return { key, value }
  })
}

/** Saves by key. `undo` are the commands that revert the change, if any. Returns the exit code. */
export async function saveEnv(
  cli: Cli,
  name: string,
  change: { set?: ChangeEnv['set']; unset?: ChangeEnv['unset']; undo?: string[] },
  { restart, follow }: SavingOptions,
): Promise<number> {
  const { client, out } = cli
  const { undo = [], ...body } = change
  const path = servicePath(name)
  const before = await client.call<Service>('GET', path)
  const vars = await client.call<EnvVar[]>('PATCH', `${path}/env`, { body, query: { restart } })
  if (out.isJson) out.json(vars)
  printDone(cli, `saved: ${before.name} has ${count(vars.length, 'variable')}`)
  const { latest_deploy: deploy, live_deploy_id } = await client.call<Service>('GET', path)
  const isRestarting = restart && deploy && deploy.id !== before.latest_deploy?.id
  if (!isRestarting && live_deploy_id) printNext(cli, `berth restart ${before.name}`)
  for (const command of undo) printUndo(cli, command)
  return isRestarting ? followUp(cli, deploy, follow) : 0
}
