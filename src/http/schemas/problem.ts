// The problem answer as the OpenAPI document shows it (decisions "Errors"); problem.ts makes it.
import { z } from 'zod'

export const ProblemDetails = z
  .object({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int(),
    code: z.string().meta({ description: 'Stable: what programs look at.' }),
    detail: z.string().meta({ description: 'For people. Never holds a secret.' }),
    hint: z.string().optional().meta({ description: 'The next step.' }),
    request_id: z.string(),
    errors: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' })
