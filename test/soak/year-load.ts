// What people and schedules ask of a server in a part of a year, all of it over HTTP but the backups of the
// server, which its schedule makes.
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { serverBackupName } from '../../src/domain/backup-files.ts'
import { token } from '../support/http/http-context.ts'
import type { YearServer } from './year-server.ts'

export interface Batch {
  deploys: number
  runs: number
}

/** Each is deployed by one worker, one version after the other. */
const services = 10
const runners = 100
/** One of so many deploys fails. */
const failsEvery = 50
const finals = new Set(['deactivated', 'failed', 'canceled', 'succeeded', 'timed_out', 'deleted'])

export interface Body {
  id: string
  status: string
}

export type YearLoad = ReturnType<typeof openYearLoad>

export function openYearLoad({ port, storage, supervisor }: YearServer) {
  const agent = new Agent({ keepAlive: true, maxSockets: runners + services })
  const counts = { deploys: 0, runs: 0, requests: 0, certificates: 0, backups: 0 }
  const stopCounting = storage.changes.subscribe(({ kind, transition }) => {
    if (kind === 'certificate' && transition?.state === 'valid') counts.certificates++
  })

  function call(method: string, path: string, body?: object): Promise<Body> {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
    }
    const options = { host: '127.0.0.1', port, path: `/api/v1${path}`, method, headers, agent }
    counts.requests++
    return new Promise((resolve, reject) => {
      const send = () => {
        const sent = request(options, async (response) => {
          const text = (await response.setEncoding('utf8').toArray()).join('')
          if (response.statusCode! < 400) return resolve(text === '' ? null : JSON.parse(text))
          reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`))
        })
        // The server closes idle connections, also in the moment when one is used again.
        sent.on('error', (error) => (sent.reusedSocket ? send() : reject(error)))
        sent.end(body && JSON.stringify(body))
      }
      send()
    })
  }

  /** Until the record has such a status. */
  function reaches(id: string, isIt: (status: string) => boolean): Promise<string> {
    return new Promise((resolve) => {
      const look = () => {
        const status = storage.actors.record(id)?.status
        if (status === undefined || !isIt(status)) return
        end()
        resolve(status)
      }
      const end = storage.changes.subscribe((change) => {
        if (change.id === id) look()
      })
      look()
    })
  }

  async function deploy(name: string, place: number): Promise<void> {
    const isBroken = place % failsEvery === failsEvery - 1
    if (isBroken) await call('PATCH', `/services/${name}`, { image: 'debian:broken' })
    const { id } = await call('POST', `/services/${name}/deploys`, {})
    const status = await reaches(id, (one) => one === 'live' || finals.has(one))
    if ((status === 'live') === isBroken) throw new Error(`${id} is ${status}`)
    await storage.logs.end(id)
    counts.deploys++
    if (isBroken) await call('PATCH', `/services/${name}`, { image: 'debian:12' })
    if (place % 10 === 0) {
      await call('GET', `/services/${name}/deploys`)
      await call('GET', `/deploys/${id}?include=phases`)
    }
  }

  async function run(name: string, place: number): Promise<void> {
    const { id } = await call('POST', `/services/${name}/jobs`, { command: 'report' })
    for (let line = 0; line < 5; line++)
      storage.logs.append(id, 'stdout', 'a line of the output of a program')
    await reaches(id, (status) => finals.has(status))
    await storage.logs.end(id)
    counts.runs++
    if (place % 100 === 0) await call('GET', `/services/${name}/jobs`)
  }

  /** So many calls at once, each with its place. */
  async function inParallel(
    count: number,
    workers: number,
    work: (worker: number, place: number) => Promise<void>,
  ) {
    let next = 0
    const one = async (worker: number) => {
      while (next < count) await work(worker, next++)
    }
    await Promise.all(Array.from({ length: workers }, (_, worker) => one(worker)))
  }

  const nameOf = (place: number) => `service-${place % services}`

  return {
    /** What happened until now. */
    counts: () => ({ ...counts }),
    async createServices() {
      for (let place = 0; place < services; place++) {
        await call('POST', '/services', { name: nameOf(place), image: 'debian:12', deploy: false })
        await deploy(nameOf(place), 0)
      }
      await call('POST', '/datastores', { name: 'shop-db', kind: 'postgres' })
    },
    async liveThrough(batch: Batch) {
      await Promise.all([
        inParallel(batch.deploys, services, (worker, place) => deploy(nameOf(worker), place)),
        inParallel(batch.runs, runners, (worker, place) => run(nameOf(worker), place)),
      ])
    },
    /** Once a week: one domain comes and one goes, and a backup of the server and of a datastore is made. */
    async week(number: number) {
      const name = nameOf(number)
      await call('POST', `/services/${name}/domains`, { domain: `week-${number}.example.com` })
      if (number >= services)
        await call('DELETE', `/services/${name}/domains/week-${number - services}.example.com`)
      const backup = await call('POST', '/datastores/shop-db/backups', {})
      await reaches(backup.id, (status) => status === 'good')
      await call('DELETE', `/backups/${backup.id}`)
      const id = storage.ids.newId('sbk')
      const at = new Date(Date.now()).toISOString()
      const input = { id, trigger: 'schedule', file: serverBackupName('berth', at, id), place: 'folder', at }
      await supervisor.spawn('server-backup', id, input)
      const status = await reaches(id, (one) => one !== 'running')
      if (status !== 'stored') throw new Error(JSON.stringify(storage.actors.record(id)))
      counts.backups += 2
    },
    close() {
      stopCounting()
      agent.destroy()
    },
  }
}
