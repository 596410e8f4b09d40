// Files of instances and disks. Their content passes as tar archives.
import { z } from 'zod'
import { instanceIndex } from './shell.ts'

const longestPath = 4096

const path = z
  .string()
  .max(longestPath)
  .regex(/^\/[^\0]*$/, { error: 'must begin with a slash' })
  .describe('An absolute path. Links are resolved within the container.')

export const FileQuery = z.strictObject({ path, instance: instanceIndex })
export type FileQuery = z.output<typeof FileQuery>

export const DiskFileQuery = z.strictObject({
  path: path.describe('A path from the top of the disk: `/` is all of it.'),
})
export type DiskFileQuery = z.output<typeof DiskFileQuery>

export const PathFacts = z
  .object({
    path: z.string().describe('As in a request, with the link at its end resolved.'),
    kind: z.enum(['file', 'folder', 'other']).describe('Links count as what they lead to.'),
    mode: z.int().describe('The permissions.'),
    uid: z.int().describe('The owner.'),
    gid: z.int().describe('The group.'),
  })
  .meta({ id: 'PathFacts', description: 'A path in an instance or on a disk.' })
export type PathFacts = z.output<typeof PathFacts>
