// Copies of files of several folders.
import { copy, type Step } from '../recipe.ts'

/** One COPY loses the folders of its files, so there is one for each folder. */
export function copyByFolder(files: string[]): Step[] {
  const folderOf = (file: string) => file.replace(/[^/]*$/, '')
  const folders = [...new Set(files.map(folderOf))]
  const inFolder = (folder: string) => files.filter((file) => folderOf(file) === folder)
  return folders.map((folder) => copy(inFolder(folder), `./${folder}`))
}
