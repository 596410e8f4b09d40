// Whether requests to the public ports reach this edge: a packet filter may send them to another program.
// Checked regularly while the edge serves, and by each deploy.
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { sleep } from '../../async/sleep.ts'
import type { Frame } from '../../edge/frame.ts'
import { codeOf } from '../../errors.ts'
import { isoNow } from '../iso-now.ts'
import type { EdgePorts } from './ports.ts'

export interface PortProblem {
  code: 'port_shared' | 'port_unreachable'
  message: string
}

export type PublicPorts = Pick<Frame, 'httpPort' | 'httpsPort' | 'ownHost'>

const answerMs = 3_000
const confirmAfterMs = 1_000
const intervalMs = 60_000
/** Shorter while there is a problem, so that a solved one is not shown for another minute. */
const problemIntervalMs = 5_000
/** Error codes of Node for a peer that speaks neither HTTP nor TLS. */
const foreignProtocol = /^(HPE_|EPROTO$|ERR_SSL_)/

/** Null if both ports are fine. Only a persistent problem counts. Rejects only with the signal. */
export async function findPortProblem(ports: PublicPorts, signal: AbortSignal): Promise<PortProblem | null> {
  if ((await askBoth(ports, signal)) === null) return null
  await sleep(confirmAfterMs, signal)
  return askBoth(ports, signal)
}

/** Reports each change, and the first result, until the signal ends. Never rejects. */
export async function watchPorts(
  { actors, logger }: Pick<EdgePorts, 'actors' | 'logger'>,
  id: string,
  edge: { findPortProblem(signal: AbortSignal): Promise<PortProblem | null> },
  signal: AbortSignal,
): Promise<void> {
  let reported: PortProblem | null | undefined
  while (!signal.aborted) {
    try {
      const problem = await edge.findPortProblem(signal)
      if (reported === undefined || problem?.code !== reported?.code) {
        await actors.send(id, { type: 'ports.checked', at: isoNow(), problem })
        if (problem) logger.error(problem, 'requests to the public ports may not reach this edge')
        else if (reported) logger.info('requests to the public ports reach this edge again')
        reported = problem
      }
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'checking the public ports failed')
    }
    await sleep(reported ? problemIntervalMs : intervalMs, signal).catch(() => undefined)
  }
}

async function askBoth({ httpPort, httpsPort, ownHost }: PublicPorts, signal: AbortSignal) {
  const problems = await Promise.all([
    ask(requestHttp, httpPort, ownHost, signal),
    ask(requestHttps, httpsPort, ownHost, signal),
  ])
  return problems.find((problem) => problem !== null) ?? null
}

/** Sends one request, to which only this edge responds with 204. */
async function ask(
  request: typeof requestHttps,
  port: number,
  host: string,
  signal: AbortSignal,
): Promise<PortProblem | null> {
  const outcome = await new Promise<number | Error>((resolve) => {
    const asking = request(
      {
        host: '127.0.0.1',
        port,
        headers: { host },
        agent: false,
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
        servername: host,
        // The edge uses a self-signed certificate for unknown names.
        rejectUnauthorized: false,
      },
      ({ statusCode = 0 }) => {
        resolve(statusCode)
        asking.destroy()
      },
    )
    asking.on('error', resolve)
    asking.end()
  })
  signal.throwIfAborted()
  if (outcome === 204) return null
  if (typeof outcome === 'number' || foreignProtocol.test(codeOf(outcome))) {
    return { code: 'port_shared', message: `another program responds on port ${port}` }
  }
  return { code: 'port_unreachable', message: `port ${port} does not respond` }
}
