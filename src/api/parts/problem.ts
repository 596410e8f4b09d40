// The problem response in the OpenAPI document.
import { z } from 'zod'
import { knownCodes } from './problem-codes.ts'

export const ProblemDetails = z
  .object({
    type: z.literal('about:blank').describe('Always the same; `code` identifies the problem.'),
    title: z.string().describe('The reason phrase of the HTTP status.'),
    status: z.int().describe('The HTTP status.'),
    code: z
      .enum(knownCodes)
      .describe(
        'The code that programs branch on. Later versions may add codes; the meaning of a code ' +
          'never changes.',
      ),
    detail: z.string().describe('A sentence for people. Never contains a secret.'),
    hint: z.string().optional().describe('The next step, as a sentence or a command.'),
    request_id: z.string().describe('Id of the request in the log of the server.'),
    errors: z
      .array(
        z.object({
          path: z.string().describe('Location in the input, or the resource that refers to it.'),
          code: z.string().describe('The error, for programs.'),
          message: z.string().describe('The error, for people.'),
        }),
      )
      .optional()
      .describe('For invalid input, each error; for `in_use`, each resource that refers to it.'),
  })
  .meta({ id: 'Problem', description: 'Why a request failed (RFC 9457).' })
