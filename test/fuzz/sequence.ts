// One sequence of requests: each response is judged, then the output of deploys and runs is searched for
// secrets, and created objects are deleted.
import { judge } from './judge.ts'
import { play } from './player.ts'
import { findShownArguments } from './remains.ts'
import { readingOf, type Step } from './steps.ts'
import type { Tally } from './tally.ts'
import type { World } from './world.ts'

const shownChars = 2000

/** A request and the fault of its response. */
export class Complaint extends Error {}

export async function playSequence(steps: readonly Step[], world: World, tally: Tally): Promise<void> {
  await world.renew()
  const before = new Map([...world.pools].map(([noun, pool]) => [noun, new Set(pool)]))
  const made = (noun: string) => (world.pools.get(noun) ?? []).filter((one) => !before.get(noun)?.has(one))
  try {
    for (const step of steps) await playStep(step, world, tally)
    for (const noun of ['deploys', 'jobs']) await readAll(noun, made(noun), world)
    const [shown] = findShownArguments(world)
    if (shown) throw new Complaint(`a process shows a secret: ${shown}`)
  } finally {
    await removeMade(made('services'), made('datastores'), world)
  }
}

async function playStep(step: Step, world: World, tally: Tally | null): Promise<void> {
  const sent = await play(step, world)
  tally?.count(sent)
  const wrong = await judge(sent, world)
  if (wrong) throw new Complaint(`${describeStep(step)}\n    ${wrong}`)
}

/** Read before the cleanup: records, logs and histories are removed with their services. */
async function readAll(noun: string, ids: readonly string[], world: World): Promise<void> {
  for (const id of ids) {
    for (const part of ['', '/logs', '/history']) {
      await playStep(readingOf(`/api/v1/${noun}/${id}${part}`), world, null)
    }
  }
}

async function removeMade(
  services: readonly string[],
  datastores: readonly string[],
  { daemon }: World,
): Promise<void> {
  for (const id of datastores.filter((datastore) => datastore.startsWith('dst-'))) {
    await daemon.api.call('DELETE', `/datastores/${id}?force=true&purge=true`)
  }
  for (const id of services.filter((service) => service.startsWith('svc-'))) {
    await daemon.api.call('DELETE', `/services/${id}?force=true&delete_disk=true&purge=true`)
  }
}

/** A step in readable form, with the placeholders of tokens.ts. */
export function describeStep(step: Step): string {
  if (step.kind === 'raw') return `bytes ${JSON.stringify(step.bytes.toString('latin1'))}`
  if (step.kind === 'delivery') return `a delivery ${JSON.stringify(step)}`.slice(0, shownChars)
  const { method, path, params, query, headers, content, isChunked, leavesAfter } = step
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
  const requested = query.map((pair) => pair.join('=')).join('&')
  const head = headers.map((pair) => pair.join(': ')).join(', ')
  const body = content === null ? '' : JSON.stringify(content)
  const leaving = leavesAfter === null ? '' : ` leaves after ${leavesAfter}`
  const words = [
    method,
    filled + (requested && `?${requested}`),
    `[${head}]`,
    body,
    isChunked ? 'in chunks' : '',
  ]
  const label = words.filter((word) => word !== '').join(' ')
  return label.slice(0, shownChars) + leaving
}
