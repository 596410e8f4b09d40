// Query parameters of the pages. Others are allowed; forms are validated by the rules of the API.
import { z } from 'zod'

/** The fields as they were typed, by name. */
export const Form = z.record(z.string(), z.string())
export type Form = z.output<typeof Form>

export const SetupQuery = z.object({ code: z.string().optional(), next: z.string().optional() })
export type SetupQuery = z.output<typeof SetupQuery>

export const LoginQuery = z.object({ next: z.string().optional() })
export type LoginQuery = z.output<typeof LoginQuery>

/** Also keeps a path from leaving the folder of the manual. */
export const ManualParams = z.object({ page: z.string().regex(/^[a-z-]{1,40}$/) })
export type ManualParams = z.output<typeof ManualParams>

export const TerminalLoginQuery = z.object({ id: z.string().optional() })
export type TerminalLoginQuery = z.output<typeof TerminalLoginQuery>
