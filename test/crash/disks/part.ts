// The disk of a service: it is backed up, changed and restored while the daemon is killed. It must have the
// files of the backup or those of before, never some of each. Read through containers of the drill's own.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Body } from '../../support/daemon/api.ts'
import { findLeftovers } from '../../support/daemon/leftovers.ts'
import { busyboxImage } from '../../support/docker/images.ts'
import { createRepository } from '../../support/git/repository.ts'
import { run } from '../../support/system/command.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { createLimit, type Drill } from '../drill.ts'
import type { KillPlan } from '../kills.ts'
import { hasWord, type Part, type PartKind } from '../part.ts'
import type { Chance } from '../random.ts'
import { list } from '../report.ts'
import { checkOwners } from '../stored.ts'

interface Shelf {
  drill: Drill
  id: string
  deployId: string
  /** What its disk has after the last outcome. */
  content: string
  /** How many backups and restores had each status. */
  outcomes: Record<string, number>
}

const name = 'shelf'
const kills: KillPlan = {
  moments: { start: 10, status: 50, request: 30, any: 10 },
  statuses: { dumping: 2, checking: 3, loading: 5, switching: 4, done: 2, deleting: 1 },
  rareShare: 0.1,
}
const settleMs = 150_000
const ends = ['good', 'failed', 'done', 'canceled']
const neverMixed = 'a disk has all files of a backup, or those of before'
const files = Array.from({ length: 20 }, (_, index) => `file-${index}`)
/** Its size lets a restore take a while. */
const large = 'head -c 40000000 > large'
const listing = 'find . -type f -exec sha256sum {} + | LC_ALL=C sort'

export const disks: PartKind = {
  daemonArgs: () => [],
  prepare: async () => ({ image: await busyboxImage() }),
  async open(drill) {
    const shelf = await createShelf(drill)
    await write(shelf, 'first')
    return openPart(shelf)
  },
}

function openPart(shelf: Shelf): Part {
  const { drill, id, deployId, outcomes } = shelf
  const { ledger, victim, chance } = drill
  return {
    kills,
    use: () => [useShelf(shelf, chance.fork())],
    async check() {
      await requireContent(shelf, [shelf.content])
      const { containers, volumes } = await findLeftovers(victim.prefix)
      const disk = await findDisk(shelf)
      if (volumes.join() !== disk)
        ledger.addViolation('Docker has exactly the wanted objects', `volumes: ${volumes}, not ${disk}`)
      if (containers.length !== 1)
        ledger.addViolation('Docker has exactly the wanted objects', `containers: ${containers}`)
    },
    checkRows(view, isEmpty) {
      // The records of ended backups, restores and removals stay for a while.
      const actors = view.actors.filter(({ final }) => !final)
      checkOwners({ ...view, actors }, drill, isEmpty ? [] : [id])
    },
    loggedIds: () => [deployId],
    owns: (text) => hasWord(text, [name, id, deployId]) || /^"?(bak|rst)-/.test(text),
    removeAll: () => drill.client.remove(`/services/${id}`, 'delete_disk=true&purge=true'),
    figures: () => [['backups and restores', list(outcomes)]],
    proofs: () => ({ 'backups and restores': Object.keys(outcomes).length }),
  }
}

async function createShelf(drill: Drill): Promise<Shelf> {
  const { client, scope, prepared } = drill
  const repository = createRepository(scope)
  repository.commit('First', { Dockerfile: `FROM ${prepared.image}\nCMD ["true"]\n` })
  const body = {
    name,
    type: 'background_worker',
    repo_url: repository.directory,
    start_command: 'trap "exit 0" TERM; sleep 100000 & wait',
    drain_seconds: 0,
    disk_mount_path: '/data',
  }
  const created = await client.ask({ method: 'POST', path: '/services', body })
  const deployId = created!.latest_deploy.id
  for (const isTooLate = createLimit(drill, settleMs); ; await sleep(100)) {
    const { status, error } = await client.get(`/deploys/${deployId}`)
    if (status === 'live') break
    if (isTooLate()) throw new Error(`the first deploy of ${name} is ${status}: ${error}`)
  }
  return { drill, id: created!.id, deployId, content: '', outcomes: {} }
}

/** The volume that the service has now. */
async function findDisk({ drill, id }: Shelf): Promise<string> {
  const disks: Body[] = await drill.client.get('/disks')
  return disks.find(({ service_id, kept }) => service_id === id && !kept)!.name
}

/** What a script prints in a volume or a folder. */
function inside(source: string, { prepared }: Drill, script: string): Promise<string> {
  const words = ['run', '--rm', '--network=none', '--volume', `${source}:/disk`, '--workdir=/disk']
  return run('docker', [...words, prepared.image!, 'sh', '-c', script])
}

async function inDisk(shelf: Shelf, script: string): Promise<string> {
  return inside(await findDisk(shelf), shelf.drill, script)
}

/** Replaces all files. */
async function write(shelf: Shelf, text: string): Promise<void> {
  const fill = `for f in ${files.join(' ')}; do echo "${text}" > $f; done; yes "${text}" | ${large}`
  shelf.content = await inDisk(shelf, `rm -rf ./*; ${fill}; touch "only ${text}"; ${listing}`)
}

async function requireContent(shelf: Shelf, allowed: string[]): Promise<void> {
  const found = await inDisk(shelf, listing)
  if (allowed.includes(found)) return
  const evidence = [found, ...allowed.map((one) => `or: ${one}`)]
  shelf.drill.ledger.addViolation(neverMixed, `the disk of ${name}`, evidence)
}

/** What is in the file of a backup. */
async function readFile({ drill }: Shelf, { file }: Body): Promise<string> {
  const directory = temporaryDirectory(drill.scope)
  await run('tar', ['--extract', '--gzip', '--file', file, '--directory', directory])
  return inside(join(directory, 'disk'), drill, listing)
}

/** Backs up and restores until the run ends. */
async function useShelf(shelf: Shelf, chance: Chance): Promise<void> {
  const { drill } = shelf
  for (let number = 1; !drill.isOver; number++) {
    await sleep(chance.between(0, 2000))
    await write(shelf, `saved ${number}`)
    const backup = await startAndFollow(shelf, 'backups', undefined)
    if (backup?.status !== 'good') continue
    const saved = await readFile(shelf, backup)
    if (saved !== shelf.content)
      drill.ledger.addViolation('a backup has the files of the disk', backup.id, [saved, shelf.content])
    if (!drill.isOver) await restore(shelf, { backup, saved, later: `later ${number}` }, chance)
    await drill.client.remove(`/backups/${backup.id}`, '')
  }
}

async function restore(
  shelf: Shelf,
  { backup, saved, later }: { backup: Body; saved: string; later: string },
  chance: Chance,
): Promise<void> {
  await write(shelf, later)
  const former = await findDisk(shelf)
  const between = () => requireContent(shelf, [saved, shelf.content])
  const ended = await startAndFollow(shelf, 'restores', { backup_id: backup.id }, { chance, between })
  if (ended?.status === 'done') shelf.content = saved
  if (ended) await requireContent(shelf, [shelf.content])
  if (ended?.status === 'done') await emptyTrash(shelf, former)
}

/** The former volume is a disk in the trash. */
async function emptyTrash({ drill }: Shelf, disk: string): Promise<void> {
  for (const isTooLate = createLimit(drill, settleMs); ; await sleep(100)) {
    const trash: Body[] = await drill.client.get('/trash')
    const found = trash.find((entry) => entry.name === disk)
    if (found) {
      // A repeated request finds nothing if the first one succeeded without a response.
      await drill.client.ask({ method: 'DELETE', path: `/trash/${found.id}` }, ({ status }) => status === 404)
      return
    }
    if (!isTooLate()) continue
    return drill.ledger.addViolation('the former disk is in the trash', `${disk} is not there`)
  }
}

interface During {
  chance: Chance
  between(): Promise<void>
}

/** Returns the record once it has ended. */
async function startAndFollow(
  { drill, id, outcomes }: Shelf,
  what: 'backups' | 'restores',
  body: unknown,
  during?: During,
): Promise<Body | null> {
  const { client, ledger } = drill
  const mayBeRefused = ({ body }: Answer) => ['docker_unavailable', 'docker_error'].includes(body?.code)
  const rules = { mayBeRefused, isGone: () => true }
  const started = await client.order(`/disks/${id}/${what}`, body, rules)
  if (!started) return null
  if (during?.chance.isTrue(0.15))
    await client.ask(
      { method: 'POST', path: `/restores/${started.id}/cancel` },
      ({ status }) => status === 409,
    )
  for (const isTooLate = createLimit(drill, settleMs); ; await sleep(100)) {
    const record = await client.get(`/${what}/${started.id}`)
    if (ends.includes(record.status)) {
      const label = `${what} ${record.status}`
      outcomes[label] = (outcomes[label] ?? 0) + 1
      if (record.status === 'failed')
        ledger.addViolation('no backup or restore fails because of a kill', JSON.stringify(record))
      return record
    }
    await during?.between()
    if (!isTooLate()) continue
    ledger.addViolation('every backup and restore ends', JSON.stringify(record))
    return null
  }
}
