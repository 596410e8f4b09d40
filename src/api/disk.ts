// Disks: the volumes of services, including deleted services.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import {
  createdAt,
  finishedAt,
  id,
  identifier,
  optional,
  purge,
  recorded,
  serviceId,
  text,
  whole,
} from './parts/fields.ts'

export const DiskParams = z.object({ name: identifier.describe('Name of the Docker volume of a disk.') })
export type DiskParams = z.output<typeof DiskParams>

export const DiskOrServiceParams = z.object({
  name: identifier.describe('Name of the disk, or name or id of its service.'),
})
export type DiskOrServiceParams = z.output<typeof DiskOrServiceParams>

export const DeleteDiskQuery = z.strictObject({ purge })
export type DeleteDiskQuery = z.output<typeof DeleteDiskQuery>

export const Disk = z
  .object({
    name: z.string().describe('Name of the Docker volume.'),
    service_id: z.string().describe('The id of its service, which may be deleted.'),
    service_name: z.string().describe('Name of the service when the disk was created.'),
    kept: z
      .boolean()
      .describe('Whether the service was deleted. Only then can DELETE /disks/{name} delete the disk.'),
  })
  .meta({ id: 'Disk', description: 'The disk of a service.' })
export type Disk = z.output<typeof Disk>

const userPattern = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]*)?$/
const largestId = 2 ** 32 - 2

export const ChownDisk = z
  .strictObject({
    owner: optional(
      z
        .string()
        .max(64)
        .regex(userPattern, { error: 'must be a user or user:group, by numbers or names' })
        .refine((text) => text.split(':').every((part) => !/^\d+$/.test(part) || Number(part) <= largestId), {
          error: `ids are at most ${largestId}`,
        }),
    ).describe(
      'A user or `user:group`, by numbers or by names of the live image, read as `USER` of a Dockerfile. ' +
        'By default the user of the live image.',
    ),
  })
  .meta({ id: 'ChownDisk', description: 'The new owner of all files of a disk.' })
export type ChownDisk = z.output<typeof ChownDisk>

export const DiskChown = z
  .object({
    id,
    service_id: serviceId,
    disk: z.string().describe('Name of the disk.'),
    owner: text.describe('As requested; null for the user of the live image.'),
    uid: whole.describe('The new owner of every file; null until the end.'),
    gid: whole.describe('The new group of every file; null until the end.'),
    status: z
      .enum(['running', 'succeeded', 'failed'])
      .describe(
        '`running`: some files may have the new owner already. `succeeded`: all have it. `failed`: see ' +
          '`error`.',
      ),
    ...failure,
    created_at: createdAt,
    finished_at: finishedAt,
    ...recorded,
  })
  .meta({ id: 'DiskChown', description: 'A change of the owner of all files of a disk.' })
export type DiskChown = z.output<typeof DiskChown>
