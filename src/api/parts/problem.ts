// The problem response in the OpenAPI document.
import { z } from 'zod'
import { knownCodes } from './problem-codes.ts'

export const ProblemDetails = z
  .object({
    type: z.literal('about:blank').meta({ description: 'Always the same; `code` identifies the problem.' }),
    title: z.string().meta({ description: 'The reason phrase of the HTTP status.' }),
    status: z.int().meta({ description: 'The HTTP status.' }),
    code: z.enum(knownCodes).meta({
      description:
        'The code that programs branch on. Later versions may add codes; the meaning of a code ' +
        'never changes.',
    }),
    detail: z.string().meta({ description: 'A sentence for people. Never contains a secret.' }),
    hint: z.string().optional().meta({ description: 'The next step, as a sentence or a command.' }),
    request_id: z.string().meta({ description: 'Id of the request in the log of the server.' }),
    errors: z
      .array(
        z.object({
          path: z.string().meta({ description: 'Location in the input, or the resource that refers to it.' }),
          code: z.string().meta({ description: 'The error, for programs.' }),
          message: z.string().meta({ description: 'The error, for people.' }),
        }),
      )
      .optional()
      .meta({ description: 'For invalid input, each error; for `in_use`, each resource that refers to it.' }),
  })
  .meta({ id: 'Problem', description: 'Why a request failed (RFC 9457).' })
