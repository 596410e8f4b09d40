// The problem response in the OpenAPI document.
import { z } from 'zod'
import { knownCodes } from './problem-codes.ts'

export const ProblemDetails = z
  .object({
    type: z.literal('about:blank').meta({ description: 'Always the same; `code` identifies the problem.' }),
    title: z.string().meta({ description: 'The words of the HTTP status.' }),
    status: z.int().meta({ description: 'The HTTP status again.' }),
    code: z.enum(knownCodes).meta({
      description: 'What programs decide by. Later versions may add codes; none changes its meaning.',
    }),
    detail: z.string().meta({ description: 'For people. Never holds a secret.' }),
    hint: z.string().optional().meta({ description: 'The next step, as text or as a command.' }),
    request_id: z.string().meta({ description: 'The request in the log of the server.' }),
    errors: z
      .array(
        z.object({
          path: z.string().meta({ description: 'Where in the input, or which referrer.' }),
          code: z.string().meta({ description: 'What is wrong with it, for programs.' }),
          message: z.string().meta({ description: 'The same for people.' }),
        }),
      )
      .optional()
      .meta({ description: 'Of invalid input each fault; of `in_use` each referrer.' }),
  })
  .meta({ id: 'Problem', description: 'Why a request failed (RFC 9457).' })
