import type { ProviderName } from './base-url.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import type { Provider } from './provider.ts'

export const providers: Record<ProviderName, Provider> = { github, gitlab, gitea }
