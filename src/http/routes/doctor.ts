// What the server finds wrong with its host. For administrators: it names paths, programs and versions.
import { Doctor } from '../../api/doctor.ts'
import { get, tagged } from '../pipeline/route.ts'

export const doctorRoutes = tagged('Server', [
  get('/doctor', {
    summary: 'Looks for what keeps the server from working, with the command that fixes it',
    description: 'The same as `berthd doctor` on the host, which also works while the server is stopped.',
    response: Doctor,
    handler: ({ context }) => context.doctor(),
  }),
])
