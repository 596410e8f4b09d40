// The kinds of sources that are fetched. An image is pulled instead, and a restart reuses one.
import type { DeploySource } from '../../machines/deploy/deploy-context.ts'
import { archive } from './archive.ts'
import { git } from './git.ts'
import type { Source } from './source.ts'

const sources: Partial<Record<DeploySource['kind'], Source>> = { git, archive }

export const sourceFor = ({ kind }: DeploySource): Source => sources[kind]!
