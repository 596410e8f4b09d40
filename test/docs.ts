// Writes the generated pages of the manual. `npm run docs`
import { writeFileSync } from 'node:fs'
import { referencePages } from './support/http/reference.ts'

for (const [name, text] of Object.entries(referencePages())) {
  writeFileSync(new URL(`../docs/${name}`, import.meta.url), text)
}
