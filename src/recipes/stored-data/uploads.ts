// Folders in which an app keeps the files that its users send.
import { posix } from 'node:path'
import type { Tree } from '../tree.ts'
import { type FoundPath, findFolders, type Home, type Program } from './paths.ts'

export interface Uploads {
  name: string
  found: FoundPath
}

interface Rule {
  name: string
  /** What shows that it is used. */
  shows: RegExp
  behind: RegExp
}

const rules: Rule[] = [
  { name: 'multer', shows: /\bmulter\b/, behind: /\b(?:dest|destination)["']?\s?:|\bcb\(\s?null\s?,/g },
  { name: 'formidable', shows: /\bformidable\b/, behind: /\buploadDir["']?\s?[:=]/g },
  { name: 'express-fileupload', shows: /\bfileUpload\b|\.files\b/, behind: /\.mv\(/g },
  { name: 'Django', shows: /^MEDIA_ROOT\b/m, behind: /^MEDIA_ROOT\s?=/gm },
  { name: 'PHP', shows: /\bmove_uploaded_file\(/, behind: /\bmove_uploaded_file\([^,\n]{0,120},/g },
  {
    name: 'the app',
    shows: /\bUPLOADS?_(?:FOLDER|DIR|PATH)\b/i,
    behind: /\bUPLOADS?_(?:FOLDER|DIR|PATH)["'\]]{0,2}(?:\s?:\s?\w{1,20})?\s?[:=](?!=)/gi,
  },
]
const elsewhere = /\bmulter-s3\b|\bstorages\.backends\./
/** Kept in the source without files, so the app fills them. */
const emptyFolder = /^(?:.*\/)?(?:public\/|static\/|wwwroot\/)?(?:uploads?|media)\/\.(?:git)?(?:keep|ignore)$/

export function findUploads(
  tree: Tree,
  programs: Program[],
  home: Home,
  isOwn: (path: string) => boolean,
): Uploads[] {
  // Where files go to another server, its settings name it.
  if (programs.some(({ text }) => elsewhere.test(text))) return []
  const named = programs.flatMap((program) => {
    const rule = rules.find(
      ({ shows, behind }) => shows.test(program.text) && program.text.search(behind) !== -1,
    )
    return rule ? findFolders(program, home, rule.behind).map((found) => ({ name: rule.name, found })) : []
  })
  const rails = findRails(tree, programs, home)
  if (named.length > 0 || rails) return [...named, ...(rails ? [rails] : [])]
  const file = tree
    .find(emptyFolder)
    .filter(isOwn)
    .find((path) => isEmpty(tree, posix.dirname(path)))
  return file
    ? [{ name: 'the app', found: { path: posix.join(home.top, posix.dirname(file)), file, variable: null } }]
    : []
}

function isEmpty(tree: Tree, folder: string): boolean {
  return [...tree.files].every(
    (path) => !path.startsWith(`${folder}/`) || posix.basename(path).startsWith('.'),
  )
}

/** Active Storage, unless its service for production is another one. */
function findRails(tree: Tree, programs: Program[], home: Home): Uploads | null {
  const file = 'config/environments/production.rb'
  const isLocal = /^\s*config\.active_storage\.service\s*=\s*:local\b/m.test(tree.text(file))
  const isUsed = programs.some(({ text }) => /\bhas_(?:one|many)_attached\b/.test(text))
  return isLocal && isUsed
    ? { name: 'Active Storage', found: { path: posix.join(home.folder, 'storage'), file, variable: null } }
    : null
}
