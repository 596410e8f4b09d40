// All parts of the crash drill at once, on one daemon and one engine, with visitors at its edge.
import { datastores } from '../crash/datastores/part.ts'
import { deploys } from '../crash/deploys/part.ts'
import type { Drill } from '../crash/drill.ts'
import { jobs } from '../crash/jobs/part.ts'
import type { Part, PartKind } from '../crash/part.ts'
import { type Sites, sites } from './sites.ts'

const others: PartKind[] = [datastores, jobs, deploys]
const kinds = [sites, ...others]

export const everything: Omit<PartKind, 'open'> & { open(drill: Drill): Promise<Sites> } = {
  daemonArgs: (prepared) => kinds.flatMap((kind) => kind.daemonArgs(prepared)),
  async prepare(directory, isEnginePrivate) {
    const prepared = {}
    for (const kind of kinds) Object.assign(prepared, await kind.prepare(directory, isEnginePrivate))
    return prepared
  },
  async open(drill) {
    const parts: Part[] = []
    const visited = await openOne(sites, drill, parts)
    parts.push(visited)
    for (const kind of others) parts.push(await openOne(kind, drill, parts))
    return { ...joined(parts), untilServed: () => visited.untilServed() }
  },
}

/** Its checks leave alone what the other parts own. */
async function openOne<P extends Part>(
  kind: { open(drill: Drill): Promise<P> },
  drill: Drill,
  parts: Part[],
): Promise<P> {
  const own: { part: Part | null } = { part: null }
  const isForeign = (text: string) => parts.some((part) => part !== own.part && part.owns(text))
  // Shares everything else, such as whether the drill is over.
  const view: Drill = Object.create(drill, { isForeign: { value: isForeign } })
  const part = await kind.open(view)
  own.part = part
  return part
}

function joined(parts: Part[]): Part {
  const inTurn = async (act: (part: Part) => unknown) => {
    for (const part of parts) await act(part)
  }
  return {
    kills: parts[0]!.kills,
    use: () => parts.flatMap((part) => part.use()),
    async outage(chance) {
      const begun = parts.flatMap((part) => (part.outage ? [part.outage(chance)] : []))
      const recoveries = await Promise.all(begun)
      return async (end) => {
        await Promise.all(recoveries.map((recovered) => recovered(() => undefined)))
        end()
      }
    },
    rest: () => inTurn((part) => part.rest?.()),
    check: (api) => inTurn((part) => part.check(api)),
    checkWithoutDaemon: () => inTurn((part) => part.checkWithoutDaemon?.()),
    checkFiles: (storage, isEmpty) => inTurn((part) => part.checkFiles?.(storage, isEmpty)),
    checkRows: (view, isEmpty) => void parts.map((part) => part.checkRows(view, isEmpty)),
    expectedErrors: parts.flatMap((part) => part.expectedErrors ?? []),
    loggedIds: () => parts.flatMap((part) => part.loggedIds?.() ?? []),
    owns: (text) => parts.some((part) => part.owns(text)),
    removeAll: () => inTurn((part) => part.removeAll()),
    figures: () => parts.flatMap((part) => part.figures()),
    proofs: () => Object.assign({}, ...parts.map((part) => part.proofs())),
  }
}
