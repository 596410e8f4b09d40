// Copies of files of several folders.
import { copy, type Step } from '../recipe.ts'

/** One COPY loses the folders of its files, so there is one for each folder. */
export function copyByFolder(files: string[]): Step[] {
  const folders = new Map<string, string[]>()
  for (const file of files) {
    const folder = file.replace(/[^/]*$/, '')
    const inside = folders.get(folder) ?? []
    inside.push(file)
    folders.set(folder, inside)
  }
  return [...folders].map(([folder, inside]) => copy(inside, `./${folder}`))
}
