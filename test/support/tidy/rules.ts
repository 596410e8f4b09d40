// The rules of the house, by the sentence that each of them keeps true.
import * as budgets from './budgets.ts'
import * as cycles from './cycles.ts'
import * as imports from './imports.ts'
import * as language from './language.ts'
import * as layout from './layout.ts'
import * as lock from './lock.ts'
import type { Rule } from './tree.ts'
import * as wording from './wording.ts'

export const rules = {
  'folders import only what the architecture allows': imports.importsStayWithinBorders,
  'imports have no cycles, type-only imports included': cycles.importsHaveNoCycles,
  'each library with side effects is loaded in one place': imports.librariesHaveOneGate,
  'text of strangers is parsed by readers': imports.strangersTextIsReadByReaders,
  'the daemon is wired once': imports.daemonIsWiredOnce,
  'a line has at most 110 columns': budgets.linesAreShort,
  'README has at most 120 lines and 10 KiB': budgets.readmeIsShort,
  'the product is within its line budget': budgets.productIsSmall,
  'nothing is exported as default': language.exportsHaveNames,
  'only index files export all of another module': language.modulesListTheirExports,
  'no type is `any`': language.typesAreKnown,
  'no array literal spreads another array literal': language.arraysAreFlat,
  'no object literal spreads another object literal': language.objectsAreFlat,
  'no comment silences the compiler': language.compilerIsHeard,
  'nothing runs in a shell': language.nothingRunsInAShell,
  'charts know neither clock nor chance': language.chartsKnowNoClock,
  'comments and messages use plain words': wording.wordsArePlain,
  'comments cite what a reader can open': wording.citationsCanBeOpened,
  'no comment ends in a lone word': wording.commentsEndInALine,
  'the top level is fixed': layout.topLevelIsFixed,
  'every folder is named after what is in it': layout.foldersAreNouns,
  'an index file is inside its folder': layout.indexFilesAreInside,
  'every actor kind has its chart, effects, test and word': layout.actorKindsAreWhole,
  'dependencies are pinned': layout.versionsAreExact,
  'the lock file names what every platform may want': lock.lockIsWhole,
  'the manual says what each dependency is for': layout.dependenciesAreExplained,
} satisfies Record<string, Rule>

export type RuleName = keyof typeof rules
