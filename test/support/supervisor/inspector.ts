// An inspector of sample actors, and viewers that connect to it.
import type { IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import type { StatelyInspectionEvent } from '@statelyai/inspect'
import { WebSocket } from 'ws'
import { openInspector } from '../../../src/inspect/inspector.ts'
import * as sample from './sample-machine.ts'
import { type Supervised, superviseSamples } from './supervision.ts'

export const serverToken = 'bth_server'

export async function inspectSamples(t: TestContext, options: Supervised) {
  const actors = superviseSamples(t, options)
  const inspector = await openInspector({
    host: '127.0.0.1',
    port: 0,
    origins: ['https://stately.ai'],
    isServerToken: (token) => token === serverToken,
    machines: { sample },
    actors,
  })
  t.after(() => inspector.stop())
  const address = `ws://127.0.0.1:${inspector.port}`
  return { ...actors, inspector, address, url: `${address}/?access_token=${serverToken}` }
}

export interface ConnectedViewer {
  socket: WebSocket
  received: StatelyInspectionEvent[]
  /** The received text. */
  wire(): string
  /** Resolves with the close code. */
  closed: Promise<number>
}

/** Fails with the status of a refusal. */
export function connectViewer(
  t: TestContext,
  url: string,
  headers: Record<string, string> = {},
): Promise<ConnectedViewer> {
  const socket = new WebSocket(url, { headers })
  t.after(() => socket.terminate())
  const texts: string[] = []
  const received: StatelyInspectionEvent[] = []
  socket.on('message', (data) => {
    texts.push(String(data))
    received.push(JSON.parse(String(data)))
  })
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve({ socket, received, closed, wire: () => texts.join('\n') }))
    socket.once('unexpected-response', (_, response: IncomingMessage) => {
      response.destroy()
      reject(new Error(`refused with ${response.statusCode}`))
    })
    socket.on('error', reject)
  })
}
