// Deploy keys: a service's own ssh key for reading its repository. The private half is never sent.
import { z } from 'zod'
import { createdAt, timestamp } from './parts/fields.ts'

export const CreateDeployKey = z
  .strictObject({
    rotate: z
      .boolean()
      .nullish()
      .describe('Replaces a key that exists: the former one no longer reads anything. Default false.'),
  })
  .meta({ id: 'CreateDeployKey', description: 'A key for reading the repository of a service over ssh.' })
export type CreateDeployKey = z.output<typeof CreateDeployKey>

const fingerprint = z.string().describe('SHA-256 of the key, as ssh shows it.')

export const DeployKey = z
  .object({
    public_key: z.string().describe('The public half, to be entered at the git server as a deploy key.'),
    fingerprint,
    created_at: createdAt,
    hosts: z
      .array(
        z.object({
          host: z.string().describe('The host, as in known_hosts: `[git.example.com]:2222` with a port.'),
          type: z.string().describe('As in `ssh-ed25519`.'),
          fingerprint,
          pinned_at: timestamp.describe('When it was first met.'),
        }),
      )
      .describe('The keys of git servers that were pinned on first use. A server with another is refused.'),
  })
  .meta({ id: 'DeployKey', description: 'The ssh key with which a service reads its repository.' })
export type DeployKey = z.output<typeof DeployKey>
