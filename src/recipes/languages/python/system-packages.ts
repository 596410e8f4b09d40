// What Python packages need from Debian. The full image has compilers and the headers of many libraries.
import type { Choice } from '../../recipe.ts'
import type { Tree } from '../../tree.ts'
import { needsGit, readNames } from './packages.ts'

interface Need {
  packages: string[]
  /** Of the last stage. */
  debian: string[]
  /** It has no wheel that fits: it is compiled. */
  compiles?: boolean
}

const needs: Need[] = [
  { packages: ['psycopg2', 'psycopg[c]'], debian: ['libpq5'], compiles: true },
  { packages: ['psycopg'], debian: ['libpq5'] },
  { packages: ['mysqlclient'], debian: ['libmariadb3'], compiles: true },
  { packages: ['pycairo'], debian: ['libcairo2'], compiles: true },
  { packages: ['uwsgi'], debian: ['libxml2'], compiles: true },
  { packages: ['python-ldap', 'pygraphviz', 'dlib'], debian: [], compiles: true },
  { packages: ['cairosvg', 'cairocffi'], debian: ['libcairo2'] },
  { packages: ['weasyprint'], debian: ['libpango-1.0-0', 'libpangoft2-1.0-0', 'libharfbuzz-subset0'] },
  { packages: ['pdf2image'], debian: ['poppler-utils'] },
  { packages: ['pydub', 'ffmpeg-python', 'openai-whisper'], debian: ['ffmpeg'] },
  { packages: ['pytesseract'], debian: ['tesseract-ocr'] },
  { packages: ['python-magic'], debian: ['libmagic1'] },
  { packages: ['opencv-python', 'opencv-contrib-python'], debian: ['libgl1', 'libglib2.0-0'] },
  { packages: ['gitpython'], debian: ['git'] },
]

/** The Debian packages of the last stage, and whether the build needs the full image. */
export function chooseSystem(app: Tree): { debian: string[]; full: boolean; choices: Choice[] } {
  const names = readNames(app)
  // The wheel with the library in it.
  if (names.has('psycopg[binary]')) names.delete('psycopg')
  const here = needs.flatMap((need) => {
    const name = need.packages.find((one) => names.has(one))
    return name ? [{ ...need, name }] : []
  })
  const compiled = here.find(({ compiles }) => compiles)?.name
  const reason = compiled ? `${compiled} is compiled` : needsGit(app) ? 'a package is fetched with git' : null
  return {
    debian: here.flatMap(({ debian }) => debian),
    full: reason !== null,
    choices: [
      ...(reason ? [{ what: 'built in the full image', reason }] : []),
      ...here
        .filter(({ debian }) => debian.length > 0)
        .map(({ debian, name }) => ({ what: debian.join(', '), reason: `${name} uses it` })),
    ],
  }
}
