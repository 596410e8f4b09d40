// What a reader does with a log: find, follow, wrap, show times, filter, download, enlarge.
import {
  ArrowDownToLine,
  ChevronDown,
  ChevronUp,
  Clock,
  Download,
  Maximize2,
  Minimize2,
  WrapText,
} from 'lucide-react'
import type { ReactNode, RefObject } from 'react'
import type { FindState } from './find-state.ts'
import type { Settings } from './settings.ts'
import styles from './toolbar.module.css'

interface ToolbarProps {
  field: RefObject<HTMLInputElement | null>
  find: FindState
  onGo: (step: 1 | -1) => void
  count: string
  /** Null for a log that has ended. */
  isFollowing: boolean | null
  onFollow: (isFollowing: boolean) => void
  settings: Settings
  onSettings: (change: Partial<Settings>) => void
  isLarge: boolean
  onLarge: (isLarge: boolean) => void
  onDownload: () => void
  children: ReactNode
}

export function Toolbar(props: ToolbarProps) {
  const { isFollowing, settings, isLarge } = props
  const { isWrapped, hasTimes } = settings
  return (
    <header className={styles.bar}>
      <Find {...props} />
      {!props.find.search && <span className={styles.count}>{props.count}</span>}
      <div className={styles.tools}>
        {props.children}
        {isFollowing !== null && (
          <Tool
            icon={<ArrowDownToLine />}
            label="Following"
            isPressed={isFollowing}
            onPress={() => props.onFollow(!isFollowing)}
          />
        )}
        <Tool
          icon={<WrapText />}
          label="Wrap"
          isPressed={isWrapped}
          onPress={() => props.onSettings({ isWrapped: !isWrapped })}
        />
        <Tool
          icon={<Clock />}
          label="Timestamps"
          isPressed={hasTimes}
          onPress={() => props.onSettings({ hasTimes: !hasTimes })}
        />
        <Tool icon={<Download />} label="Download" onPress={props.onDownload} />
        <Tool
          icon={isLarge ? <Minimize2 /> : <Maximize2 />}
          label={isLarge ? 'Exit full screen' : 'Full screen'}
          onPress={() => props.onLarge(!isLarge)}
        />
      </div>
    </header>
  )
}

function Find({ field, find, onGo }: Pick<ToolbarProps, 'field' | 'find' | 'onGo'>) {
  const { query, setQuery, search, isSearching, current } = find
  const hasMatches = (search?.count ?? 0) > 0
  return (
    <search className={styles.find}>
      <input
        ref={field}
        type="search"
        value={query}
        placeholder="Find in log"
        aria-label="Find in log"
        aria-keyshortcuts="/"
        onChange={({ currentTarget: { value } }) => setQuery(value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onGo(event.shiftKey ? -1 : 1)
        }}
      />
      {search && (
        <>
          <span className={styles.matches} role="status">
            {isSearching ? '…' : matchesWord(search.count, current)}
          </span>
          <button type="button" aria-label="Previous match" disabled={!hasMatches} onClick={() => onGo(-1)}>
            <ChevronUp size={16} />
          </button>
          <button type="button" aria-label="Next match" disabled={!hasMatches} onClick={() => onGo(1)}>
            <ChevronDown size={16} />
          </button>
        </>
      )}
    </search>
  )
}

function matchesWord(count: number, current: number): string {
  if (count === 0) return 'No match'
  const words = count === 1 ? '1 match' : `${count.toLocaleString()} matches`
  return current < 0 ? words : `${(current + 1).toLocaleString()} of ${count.toLocaleString()}`
}

interface ToolProps {
  icon: ReactNode
  label: string
  isPressed?: boolean
  onPress: () => void
}

function Tool({ icon, label, isPressed, onPress }: ToolProps) {
  return (
    <button type="button" className={styles.tool} title={label} aria-pressed={isPressed} onClick={onPress}>
      {icon}
      <span>{label}</span>
    </button>
  )
}
