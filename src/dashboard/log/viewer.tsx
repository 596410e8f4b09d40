// Shows a log of any length. A line has an address, and the reader alone decides whether the end is followed.
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { openStream } from '../live/stream.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { downloadLog } from './download.ts'
import { type LogSearch, noSearch } from './filter.ts'
import { Filters } from './filters.tsx'
import type { Fold } from './folds.ts'
import { useFullScreen } from './full-screen.ts'
import { useLogKeys } from './keys.ts'
import { linesWord } from './line-row.tsx'
import { maxLines } from './lines.ts'
import { type Log, type LogSource, openLog } from './log.ts'
import { type LogView, useLogView } from './log-view.ts'
import { type News, useNews } from './news.ts'
import { Rows } from './rows-view.tsx'
import { type SelectedLines, useSelectedLines } from './selected-lines.ts'
import { type Selection, useSelection } from './selection.ts'
import { useSettings } from './settings.ts'
import { Toolbar } from './toolbar.tsx'
import styles from './viewer.module.css'

interface ViewerProps {
  /** `/deploys/ID`, `/jobs/ID` or `/services/ID`. */
  path: string
  /** Of a service. */
  kind?: 'runtime' | 'access'
  folds?: readonly Fold[]
  /** A past moment: later lines are not shown. */
  until?: number | null
  /** What is looked for at first. */
  search?: LogSearch
  onSearch?: (search: LogSearch) => void
  /** Called with the newest line of the server itself. */
  onNews?: ((news: News) => void) | undefined
}

const noFolds: Fold[] = []
/** So many lines before one that an address names are read with it. */
const linesAround = 500

export function LogViewer(props: ViewerProps) {
  const { path, kind } = props
  const [selection, select] = useSelection()
  const [wanted, setWanted] = useState(selection?.first ?? null)
  const source = useMemo(() => sourceOf(path, kind, wanted), [path, kind, wanted])
  const log = useLog(source)
  if (!log) return <section className={styles.log} aria-label="Log" />
  const { from } = log.source
  return (
    <OpenLog
      key={`${log.source.path} ${from}`}
      {...props}
      log={log}
      selection={selection}
      select={select}
      onLost={setWanted}
    />
  )
}

function sourceOf(path: string, kind: ViewerProps['kind'], wanted: number | null): LogSource {
  const from = wanted === null ? null : Math.max(1, wanted - linesAround)
  const tail = kind ? 1_000 : maxLines
  const query = `tail=${tail}${kind === 'access' ? '&access=true' : ''}`
  return { path: `${path}/logs?${query}`, from, isWhole: kind === undefined }
}

function useLog(source: LogSource): Log | null {
  const [log, setLog] = useState<Log | null>(null)
  useEffect(() => {
    const opened = openLog(source, openStream, requestAnimationFrame)
    setLog(opened)
    return opened.close
  }, [source])
  return log
}

interface OpenProps extends ViewerProps {
  log: Log
  selection: Selection | null
  select: (selection: Selection | null) => void
  /** The address names a line that does not come by itself. */
  onLost: (number: number) => void
}

function OpenLog(props: OpenProps) {
  const { log, path, folds = noFolds, until = null, selection, select, onLost, onNews } = props
  useSyncExternalStore(log.subscribe, log.version)
  const section = useRef<HTMLElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const [settings, setSettings] = useSettings()
  const [search, setSearch] = useState(props.search ?? noSearch)
  function onSearch(change: Partial<LogSearch>): void {
    const next = { ...search, ...change }
    setSearch(next)
    props.onSearch?.(next)
  }
  const [isLarge, setLarge] = useFullScreen(section)
  useNews(log, onNews)
  useShortcut('l', 'Log in full screen', () => setLarge(!isLarge))
  const named = selection?.first ?? null
  const view = useLogView({ log, box, folds, search, onSearch, settings, until, named })
  const selected = useSelectedLines(selection, select, (number) => {
    if (log.willHave(number)) view.reveal(number)
    else onLost(number)
  })
  const keys = useLogKeys({
    log,
    box,
    field,
    find: view.find,
    go: view.go,
    selected,
    leave: () => setLarge(false),
  })
  return (
    <section
      ref={section}
      className={styles.log}
      aria-label="Log"
      data-large={isLarge || undefined}
      {...keys}
    >
      <Toolbar
        field={field}
        find={view.find}
        onGo={view.go}
        count={until === null ? linesWord(log.source.isWhole ? log.lines.last : log.lines.count) : ''}
        isFollowing={log.isEnded() ? null : view.isFollowing}
        onFollow={view.follow}
        settings={settings}
        onSettings={setSettings}
        isLarge={isLarge}
        onLarge={setLarge}
        onDownload={() => void downloadLog(path, log)}
      >
        <Filters lines={log.lines} filter={search} onFilter={onSearch} />
      </Toolbar>
      <Rows
        {...view}
        box={box}
        selected={selected.lines}
        hasTimes={settings.hasTimes}
        empty={emptyWords(log, until)}
        onSelect={selected.add}
        onTap={() => setLarge(true)}
      />
      <Notes log={log} view={view} selected={selected} />
    </section>
  )
}

function Notes({ log, view, selected }: { log: Log; view: LogView; selected: SelectedLines }) {
  return (
    <div className={styles.notes}>
      {selected.lines && (
        <div className={styles.selected}>
          {linesWord(selected.countIn(log.lines.all()))} selected
          <button type="button" data-kind="small" onClick={() => document.execCommand('copy')}>
            Copy
          </button>
          <button type="button" data-kind="small" onClick={selected.clear}>
            Clear
          </button>
        </div>
      )}
      {!view.isFollowing && !log.isEnded() && view.newLines !== 0 && (
        <button type="button" data-kind="small" onClick={() => view.follow(true)}>
          {newWords(view.newLines)} ↓
        </button>
      )}
      {log.isBroken() && <span className={styles.selected}>Disconnected. Trying again…</span>}
    </div>
  )
}

function newWords(lines: number | null): string {
  if (lines === null) return 'Newest lines'
  return lines === 1 ? '1 new line' : `${lines.toLocaleString()} new lines`
}

function emptyWords(log: Log, until: number | null): string {
  if (log.lines.count > 0) return until === null ? 'No lines match the filter.' : 'No lines until then.'
  if (log.isEnded()) return 'The log is empty.'
  return log.source.isWhole ? 'Waiting for the first line…' : 'Nothing yet. New lines appear here.'
}
