// What effects use where there is no edge (`--edge off`).
import { Failure } from '../../errors.ts'
import type { Edge } from './haproxy-edge.ts'

/** With a reverse proxy of the operator there is nothing to serve and nothing to wait for. */
export function noEdge(): Edge {
  const nothing = async () => undefined
  const refused = async () => {
    throw new Failure('edge_off', 'there is no edge: --edge is off')
  }
  return {
    isOff: true,
    apply: nothing,
    applyBestEffort: nothing,
    openRequests: async () => 0,
    verify: nothing,
    findPortProblem: async () => null,
    putChallenge: refused,
    dropChallenge: () => undefined,
    changeCertificates: nothing,
  }
}
