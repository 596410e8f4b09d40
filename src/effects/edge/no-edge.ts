// The edge of a server that runs none (`--edge off`).
import { Failure } from '../../errors.ts'
import type { Edge } from './haproxy-edge.ts'

/** The operator's own reverse proxy serves all requests, so there is nothing to apply or to wait for. */
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
