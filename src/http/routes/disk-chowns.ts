// Changes of the owner of a disk, which actors carry out.

import { z } from 'zod'
import type { DiskChownInput, DiskChownRecord } from '../../../machines/disk-chown.ts'
import type { CommonRecordFields } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { HistoryEntry } from '../../api/deploy.ts'
import { ChownDisk, DiskChown, DiskParams } from '../../api/disk.ts'
import { conflict, notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, get, post, tagged } from '../pipeline/route.ts'
import { requesterOf } from '../records/requester.ts'
import { finder } from '../records/stored-record.ts'
import { failureOf } from '../why/advice.ts'
import { adviseOnChown } from '../why/record-advice.ts'

const findRecord = finder<'disk-chown'>('own', 'change of an owner')

export const diskChownRoutes = tagged('Disks', [
  post('/disks/{name}/chown', {
    summary: 'Gives all files of a disk to another user',
    description:
      'Gives all files of a disk to another user, also while instances run. Links are changed themselves, ' +
      'not what they lead to.',
    params: DiskParams,
    body: ChownDisk,
    response: DiskChown,
    status: 202,
    replay: readChown,
    problems: ['conflict', 'docker_unavailable', 'docker_error'],
    handler: chownDisk,
  }),
  get('/disks/{name}/chown', {
    role: 'read',
    summary: 'Returns the newest change of the owner of a disk; it is kept for 30 days',
    params: DiskParams,
    response: DiskChown,
    handler: ({ context, params }) => findChown(context, params.name),
  }),
  get('/disks/{name}/chown/history', {
    role: 'read',
    summary: 'Lists the transitions of the newest change of the owner of a disk',
    params: DiskParams,
    response: z.array(HistoryEntry),
    handler: ({ context, params }) => context.storage.actors.history(findChown(context, params.name).id),
  }),
])

async function chownDisk(call: Call<DiskParams, unknown, ChownDisk>): Promise<DiskChown> {
  const { context, params, body, eventId } = call
  const { actors, observe, storage } = context
  const disk = (await observe.disks()).find(({ name }) => name === params.name)
  if (!disk) throw notFound('there is no such disk', 'berth disks lists them')
  const service = storage.services.get(disk.serviceId)
  if (!service || context.diskOf(service) !== disk.name)
    throw conflict('no service uses this disk: its owner stays as it is')
  const owner = body.owner ?? null
  const hasNames = owner === null || !/^\d+(:\d+)?$/.test(owner)
  if (hasNames && !service.live_deploy_id) {
    const message = `${service.name} has no live deploy, whose image has the names of users`
    const { disk_mount_path: path } = service
    throw conflict(message, `berth disks chown ${service.name} ${path ?? disk.name} UID:GID`)
  }
  const id = storage.ids.newId('own')
  const at = new Date().toISOString()
  const input: DiskChownInput = { id, disk: disk.name, serviceId: service.id, owner, at }
  const also = () => {
    const running = [...storage.actors.active('disk-chown', service.id)]
    if (running.length > 0) throw conflict('its owner is being changed already')
  }
  const { record } = await actors.spawn('disk-chown', id, input, {
    eventId,
    also,
    by: requesterOf(call),
  })
  return toChown(storage, record)
}

function findChown({ storage, diskOf }: HttpContext, disk: string): DiskChown {
  const service = storage.services.list().find((row) => diskOf(row) === disk)
  const record = service ? storage.actors.latest('disk-chown', service.id) : null
  if (record?.disk === disk) return toChown(storage, record)
  throw notFound('the owner of this disk was not changed')
}

function readChown({ storage }: HttpContext, id: string): DiskChown {
  return toChown(storage, findRecord(storage, id))
}

function toChown({ services }: Storage, record: DiskChownRecord & CommonRecordFields): DiskChown {
  const service = services.get(record.service_id)
  return { ...record, ...failureOf(record, service && adviseOnChown(record, service.name)) }
}
