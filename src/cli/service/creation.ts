// Creates a service. One of that name that is being deleted is waited for.
import type { Disk } from '../../api/disk.ts'
import type { Service } from '../../api/service.ts'
import { sleep } from '../../async/sleep.ts'
import { keptDiskOf } from '../../domain/kept-disks.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes } from '../failure.ts'
import { plain } from '../terminal/output.ts'
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

interface NewService {
  name: string
  disk_mount_path?: unknown
  /** Empty for a new disk; by default what `withKeptDisk` finds. */
  kept_disk?: string | undefined
}

export async function createNamed(cli: Cli, body: NewService): Promise<Service> {
  const create = async () =>
    cli.client.call<Service>('POST', '/services', { body: await withKeptDisk(cli, body) })
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

/** With the disk that a former service of this name left, as Docker Compose reuses a volume. */
export async function withKeptDisk<Body extends NewService>(cli: Cli, body: Body): Promise<Body> {
  const { name, disk_mount_path: path, kept_disk: chosen } = body
  if (!path || chosen !== undefined) return { ...body, kept_disk: chosen || undefined }
  const disk = keptDiskOf(name, await cli.client.call<Disk[]>('GET', '/disks'))
  if (disk === null) return body
  cli.out.say(`   its disk is ${disk.name}, which a former ${plain(name)} left`)
  return { ...body, kept_disk: disk.name }
}

async function untilDeleted(cli: Cli, name: string): Promise<void> {
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
