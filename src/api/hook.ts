// Hooks: requests of git providers about pushes, and of anyone who has the key of a service's deploy hook.
import { z } from 'zod'
import { id, identifier, pageFields, text, time, timestamp } from './parts/fields.ts'

const provider = z.enum(['github', 'gitlab', 'gitea'])

export const HookQuery = z.looseObject({
  connection: z
    .string()
    .max(128)
    .optional()
    .describe('Id of the connection whose secret signs it. Without it, those of all connections are tried.'),
})
export type HookQuery = z.output<typeof HookQuery>

export const HookAnswer = z
  .object({
    id: z.string().describe('Id of the delivery, or of the one that it repeats.'),
    result: z
      .enum(['accepted', 'duplicate', 'ignored'])
      .describe(
        '`accepted`: services look at the repository. `duplicate`: this delivery came before. `ignored`: ' +
          'it concerns no service, see `reason`.',
      ),
    reason: text.describe('Why it is ignored; null otherwise.'),
  })
  .meta({ id: 'HookAnswer', description: 'What becomes of a delivery.' })
export type HookAnswer = z.output<typeof HookAnswer>

export const DeployHookQuery = z.looseObject({
  key: z.string().max(128).optional().describe('The key of the hook.'),
})

export const GitHook = z
  .object({
    url: text.describe('Where the provider sends pushes; null without `--dashboard-host`.'),
    secret: z.string().describe('The secret, or token, of the webhook.'),
    content_type: z.literal('application/json').describe('The format of the webhook.'),
    events: z.array(z.string()).describe('The events that it needs, as the page of the provider calls them.'),
    check_events: z
      .array(z.string())
      .describe('Those that it needs too if a service waits for the checks of a commit (`deploy_when`).'),
    registered: z
      .boolean()
      .describe('True if the app of the connection has it: then there is nothing to set up.'),
  })
  .meta({ id: 'GitHook', description: 'The webhook that an account at a git provider may send pushes to.' })
export type GitHook = z.output<typeof GitHook>

export const DeployHook = z
  .object({
    url: z.string().describe('A POST to it queues a deploy. It contains the key.'),
    key: z.string().describe('The key.'),
  })
  .meta({ id: 'DeployHook', description: 'The deploy hook of a service.' })
export type DeployHook = z.output<typeof DeployHook>

export const DeliveryParams = z.object({
  id: identifier.describe('Id or name of the service.'),
  delivery_id: identifier.describe('Id of the delivery.'),
})

export const DeliveriesQuery = z.strictObject(pageFields('dlv'))
export type DeliveriesQuery = z.output<typeof DeliveriesQuery>

export const Delivery = z
  .object({
    id,
    provider: provider.describe('The provider; `gitea` for Forgejo too.'),
    connection_id: text.describe(
      'The connection whose secret signed it, or should have; null if it can be one of several.',
    ),
    delivery_id: text.describe('Its id at the provider.'),
    event: z.string().describe('The event, as the provider calls it.'),
    repository: text.describe('Host and path of the repository.'),
    ref: text.describe('The branch, as `refs/heads/main`.'),
    before: text.describe('The head before the push.'),
    after: text.describe('The head after the push, as the provider said; the branch may have another now.'),
    forced: z
      .boolean()
      .nullable()
      .describe('Whether the push took commits back; null if the provider does not say.'),
    received_at: timestamp.describe('When it came.'),
    decided_at: time.describe('When the service decided; null until then.'),
    deploy_id: text.describe('The deploy that began; null without one.'),
    reason: text.describe('Why; null until the service decided.'),
  })
  .meta({
    id: 'HookDelivery',
    description: 'A push that a provider reported, and what the service made of it.',
  })
export type Delivery = z.output<typeof Delivery>

export const WholeDeliveryParams = DeliveryParams.pick({ delivery_id: true })

const Decision = Delivery.pick({ decided_at: true, deploy_id: true, reason: true })
  .extend({
    service: text.describe('The name of the service; null if it was deleted.'),
    service_id: z.string().describe('The id of the service.'),
  })
  .meta({ id: 'HookDecision', description: 'What a service made of a push.' })

export const WholeDelivery = Delivery.omit({ decided_at: true, deploy_id: true })
  .extend({
    reason: text.describe('Why no service looks at its source; null if some do.'),
    decisions: z.array(Decision).describe('What each service made of it, by name.'),
  })
  .meta({ id: 'WholeHookDelivery', description: 'A push that a provider reported, with all decisions.' })
export type WholeDelivery = z.output<typeof WholeDelivery>
