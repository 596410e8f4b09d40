// Disks: the volumes of services, including deleted services.
import { z } from 'zod'
import { failure } from './parts/failure.ts'
import { identifier, optional, purge, timestamp } from './parts/fields.ts'
import { recorded } from './parts/recorded.ts'

export const DiskParams = z.object({
  name: identifier.meta({ description: 'Name of the Docker volume of a disk.' }),
})
export type DiskParams = z.output<typeof DiskParams>

export const DeleteDiskQuery = z.strictObject({ purge })
export type DeleteDiskQuery = z.output<typeof DeleteDiskQuery>

export const Disk = z
  .object({
    name: z.string().meta({ description: 'Name of the Docker volume.' }),
    service_id: z.string(),
    service_name: z.string().meta({ description: 'Name of the service when the disk was created.' }),
    kept: z.boolean().meta({
      description: 'Whether the service was deleted. Only then can DELETE /disks/{name} delete the disk.',
    }),
  })
  .meta({ id: 'Disk' })
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
    ).meta({
      description:
        'A user or `user:group`, by numbers or by names of the live image, read as `USER` of a Dockerfile. ' +
        'By default the user of the live image.',
    }),
  })
  .meta({ id: 'ChownDisk' })
export type ChownDisk = z.output<typeof ChownDisk>

export const DiskChown = z
  .object({
    id: z.string(),
    service_id: z.string(),
    disk: z.string().meta({ description: 'Name of the disk.' }),
    owner: z.string().nullable().meta({ description: 'As requested; null for the user of the live image.' }),
    uid: z.int().nullable().meta({ description: 'The new owner of every file; null until the end.' }),
    gid: z.int().nullable().meta({ description: 'The new group of every file; null until the end.' }),
    status: z.enum(['running', 'succeeded', 'failed']),
    ...failure,
    created_at: timestamp,
    finished_at: timestamp.nullable(),
    ...recorded,
  })
  .meta({ id: 'DiskChown' })
export type DiskChown = z.output<typeof DiskChown>
