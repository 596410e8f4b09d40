// What readers do. A task is loaded with its first use; its input and its result are plain data.
export const tasks = {
  decideOnPaths: async () => (await import('../domain/watched-paths.ts')).decideOnPaths,
  firstWatchedPath: async () => (await import('../domain/watched-paths.ts')).firstWatchedPath,
  hook: async () => (await import('../git-providers/hooks.ts')).openDelivery,
  parseAnswer: async () => (await import('./json-text.ts')).parseAnswer,
  parseBody: async () => (await import('./json-text.ts')).parseBody,
  recipe: async () => (await import('../recipes/index.ts')).readRecipe,
}

export type Tasks = typeof tasks
