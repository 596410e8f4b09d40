// Creates a service. One of that name that is being deleted is waited for.
import type { Service } from '../../api/service.ts'
import { sleep } from '../../async/sleep.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes } from '../failure.ts'
import { showStep } from '../terminal/phase-line.ts'

const maxWaitMs = 90_000
const pollMs = 300

export async function findService({ client }: Cli, name: string): Promise<Service | null> {
  try {
    return await client.call<Service>('GET', servicePath(name))
  } catch (error) {
    if (error instanceof CliFailure && error.exitCode === exitCodes.notFound) return null
    throw error
  }
}

export async function createNamed(cli: Cli, body: { name: string }): Promise<Service> {
  const create = () => cli.client.call<Service>('POST', '/services', { body })
  try {
    return await create()
  } catch (error) {
    if (!(error instanceof CliFailure) || error.code !== 'name_taken') throw error
    const existing = await findService(cli, body.name)
    if (existing !== null && existing.state !== 'deleting') throw isTaken(error, body.name)
    await untilDeleted(cli, body.name)
    return create()
  }
}

export async function untilDeleted(cli: Cli, name: string): Promise<void> {
  const detail = `the former ${name} is being deleted`
  await showStep(cli.out, { name: 'waiting', detail: () => detail, summary: () => null }, async () => {
    const endsAt = Date.now() + maxWaitMs
    while ((await findService(cli, name)) !== null) {
      if (Date.now() > endsAt) throw new CliFailure(detail, { hint: `its state: berth show ${name}` })
      await sleep(pollMs, cli.signal)
    }
  })
}

function isTaken({ message, exitCode, code }: CliFailure, name: string): CliFailure {
  return new CliFailure(message, {
    exitCode,
    code,
    hint: `see it: berth show ${name}\nchange it: berth update ${name} --help\nor choose another name`,
  })
}
