// The automatic deploys of a service: watches the source, and decides about each new head. A push is only a
// hint to look now: what counts is what the source has. So pushes that are lost, doubled, reordered or late
// make the same deploys.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type Problem, problemFields } from './problem.ts'
import { type ProblemDetails, type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const held = ['watchSource', 'decide', 'awaitChecks', 'beginDeploy'] as const

export const readers = ['watchSource', 'decide', 'awaitChecks'] as const

/** Why a service has no automatic deploys at present. */
export type AutoDeployObstacle = 'off' | 'suspended' | 'rolled_back'

export interface AutoDeployPlan {
  /** The repository with its branch, or the image: what was found in another one does not count. */
  source: string
  /** 0 without polls. */
  pollSeconds: number
  obstacle: AutoDeployObstacle | null
  /** A head is deployed once the checks of its commit have passed. */
  waitsForChecks: boolean
  /** One without checks is not deployed. */
  needsChecks: boolean
}

export interface AutoDeployInput {
  id: string
  serviceId: string
  plan: AutoDeployPlan
  at: string
}

interface ServiceSlot extends SlotInput {
  serviceId: string
}

interface PlannedSlot extends ServiceSlot {
  plan: AutoDeployPlan
}

/** The settings of the service changed; null when the service was removed. */
export interface PlanChange extends SlotOutput {
  plan: AutoDeployPlan | null
  /** The source has another address and is the same. */
  isRenamed: boolean
}

/** Without a problem, the source has this head: the commit of a branch, or the digest of an image. */
export interface Look extends SlotOutput {
  head: string | null
  problem: { code: string; message: string; details?: ProblemDetails } | null
  /** It is the known head, and is decided about again: nothing has brought it. */
  isAgain?: boolean
}

export type Watched = PlanChange | Look

/** `late`: they have not ended in time. Whatever they are, they count if they pass later. */
export type Checks = { outcome: 'pending' } | { outcome: 'passed' | 'failed' | 'late'; reason: string }

export interface ChecksLook extends SlotOutput {
  checks: Checks
}

/** A head whose checks have not passed yet. */
export interface Wait {
  head: string
  /** When the wait for these checks began. */
  since: string
  outcome: Checks['outcome']
}

/** `deployId` is null when the head is not deployed, `isOutdated` when it must be read again. */
export interface Verdict extends SlotOutput {
  deployId: string | null
  reason: string
  isOutdated: boolean
  /** The highest tags of the source, the highest one first; empty if it has no tags to follow. */
  tags: Tag[]
  /** The deploy that brings what is watched; null if none does. */
  reliesOn: string | null
}

/** Not begun: the settings have changed since the verdict. */
export interface Begun extends SlotOutput {
  isBegun: boolean
}

export interface Tag {
  name: string
  commit: string
}

/** What was decided about a head. */
export interface Decision {
  head: string
  at: string
  deployId: string | null
  reason: string
  /** Those of the verdict: a tag that was among them is not new if it becomes the highest one. */
  tags: Tag[]
  /** The deploy that brings what is watched. If it fails, the head is decided about again. */
  reliesOn: string | null
}

export interface AutoDeployContext extends AutoDeployInput {
  /** The newest decision; null before the first, and for a new source. */
  decision: Decision | null
  /** The head that is being decided about. */
  found: string | null
  /** Null if no head waits for its checks. */
  waiting: Wait | null
  /** What the checks of the found head led to; null before they have passed. */
  passed: string | null
  /** Why the source, or the checks, cannot be read. */
  problem: Problem | null
  failingSince: string | null
  /** When it was found out last; null once something changed that may help. */
  failedAt: string | null
  /** Attempts that failed since the last decision. */
  failures: number
  /** Whether the first look is over: a head that is found later is a push. */
  hasLooked: boolean
  /** The last action, shown in the history. */
  deed: string | null
}

export type WatchedContext = Pick<
  AutoDeployContext,
  'plan' | 'decision' | 'problem' | 'failedAt' | 'failures' | 'hasLooked'
>

const waitReason = 'it waits for its checks'
const noWait = { waiting: null, passed: null }
const looked = { hasLooked: true }
const solved = { problem: null, failingSince: null, failedAt: null, failures: 0 }

const autoDeploy = setup({
  types: {} as { context: AutoDeployContext; input: AutoDeployInput },
  actors: {
    watchSource: slot<ServiceSlot & WatchedContext, Watched>(),
    awaitPlan: slot<PlannedSlot, PlanChange>(),
    awaitChecks: slot<ServiceSlot & WatchedContext & { waiting: Wait }, Watched | ChecksLook>(),
    decide: slot<PlannedSlot & { head: string; decision: Decision | null; isPush: boolean }, Verdict>(),
    beginDeploy: slot<PlannedSlot & { head: string; deployId: string }, Begun>(),
  },
  guards: {
    hasObstacle: ({ context }) => context.plan.obstacle !== null,
    isWaiting: ({ context }) => context.waiting !== null,
    isGone: (_, watched: Watched | ChecksLook) => 'plan' in watched && watched.plan === null,
    hasNews: ({ context: { decision } }, watched: Watched | ChecksLook) =>
      'head' in watched && watched.head !== null && (watched.head !== decision?.head || !!watched.isAgain),
    havePassed: (_, watched: Watched | ChecksLook) =>
      'checks' in watched && watched.checks.outcome === 'passed',
    waits: ({ context }, { deployId }: Verdict) =>
      deployId !== null && context.plan.waitsForChecks && context.passed === null,
    isOutdated: (_, { isOutdated }: Verdict) => isOutdated,
    isBegun: (_, { isBegun }: Begun) => isBegun,
    deploys: (_, { deployId }: Verdict) => deployId !== null,
  },
  actions: {
    recordPlan: assign(({ context }, watched: Watched | ChecksLook) => {
      if (!('plan' in watched) || watched.plan === null) return context
      const isElsewhere = watched.plan.source !== context.plan.source
      const isOther = isElsewhere && !watched.isRenamed
      const { obstacle, waitsForChecks } = watched.plan
      // A head that waited is decided about again.
      const hasWaited = context.waiting !== null && (obstacle !== null || !waitsForChecks)
      const nothing = (isOther || hasWaited) && { decision: null, ...solved, ...noWait }
      const isUnseen = isOther && { hasLooked: false }
      const deed = isElsewhere ? `follows ${watched.plan.source}` : null
      return { ...nothing, ...isUnseen, failedAt: null, plan: watched.plan, deed }
    }),
    recordLook: assign(({ context }, watched: Watched | ChecksLook) => {
      if (!('head' in watched)) return context
      const { head, problem, at } = watched
      if (problem !== null) return failed(context, { ...problem, at })
      const deed = head === null ? 'found no version yet' : `found ${head}`
      // A new head may still be impossible to fetch: its verdict shows that it is not.
      const isNew = head !== null && (head !== context.decision?.head || watched.isAgain)
      return { ...(!isNew && solved), ...noWait, found: head, ...(head === null && looked), deed }
    }),
    recordWait: assign(({ context }, { at, tags }: Verdict) => {
      const head = context.found!
      const waiting: Wait = { head, since: at, outcome: 'pending' }
      const decision = { head, at, deployId: null, reason: waitReason, tags, reliesOn: null }
      return { ...solved, ...looked, decision, waiting, found: null, deed: waitReason }
    }),
    recordChecks: assign(({ context }, watched: Watched | ChecksLook) => {
      const { waiting, decision } = context
      if (!('checks' in watched) || !waiting) return context
      const { checks, at } = watched
      const reason = checks.outcome === 'pending' ? waitReason : checks.reason
      if (checks.outcome === 'passed') return { found: waiting.head, passed: reason, deed: reason }
      const isRerun = checks.outcome === 'pending' && waiting.outcome !== 'pending'
      const since = isRerun ? at : waiting.since
      return {
        ...solved,
        waiting: { ...waiting, since, outcome: checks.outcome },
        passed: null,
        decision: { ...decision!, at, reason },
        deed: reason,
      }
    }),
    recordVerdict: assign(({ context }, { deployId, reason: why, at, tags, reliesOn }: Verdict) => {
      const reason = deployId === null ? why : (context.passed ?? why)
      return {
        ...solved,
        ...noWait,
        ...looked,
        decision: { head: context.found!, at, deployId, reason, tags, reliesOn },
        found: null,
        deed: deployId === null ? `no deploy: ${reason}` : `began ${deployId}: ${reason}`,
      }
    }),
    recordProblem: assign(({ context }, problem: Problem & SlotOutput) => failed(context, problem)),
  },
})

function failed({ failingSince, failures }: AutoDeployContext, { at, ...problem }: Problem & SlotOutput) {
  return {
    problem,
    failingSince: failingSince ?? at,
    failedAt: at,
    failures: failures + 1,
    deed: `failed: ${problem.message}`,
  }
}

const service = ({ context: { id, serviceId } }: { context: AutoDeployContext }) => ({ id, serviceId })
const planned = ({ context }: { context: AutoDeployContext }) => ({
  ...service({ context }),
  plan: context.plan,
})
const watchedOf = ({ event }: { event: { output: Watched | ChecksLook } }) => event.output
const watchedContext = ({ context }: { context: AutoDeployContext }) => ({
  plan: context.plan,
  decision: context.decision,
  problem: context.problem,
  failedAt: context.failedAt,
  failures: context.failures,
  hasLooked: context.hasLooked,
})
const verdictOf = ({ event }: { event: { output: Verdict } }) => event.output

const news = {
  guard: { type: 'hasNews', params: watchedOf },
  target: 'deciding',
  actions: { type: 'recordLook', params: watchedOf },
} as const
const gone = { guard: { type: 'isGone', params: watchedOf }, target: 'ended' } as const
const changedPlan = { type: 'recordPlan', params: watchedOf } as const

export const machine = autoDeploy.createMachine({
  id: 'auto-deploy',
  description: 'Deploys a service when its branch or its image changes.',
  context: ({ input }) => ({
    ...input,
    decision: null,
    found: null,
    ...noWait,
    problem: null,
    failingSince: null,
    failedAt: null,
    failures: 0,
    hasLooked: false,
    deed: null,
  }),
  initial: 'planning',
  states: {
    planning: {
      description: 'Decides whether to watch the source, or to pause.',
      always: [
        { guard: 'hasObstacle', target: 'paused' },
        { guard: 'isWaiting', target: 'checking' },
        { target: 'watching' },
      ],
    },
    watching: {
      description: 'Looks at the source after each push and poll, until it has another head.',
      invoke: {
        id: 'watchSource',
        src: 'watchSource',
        input: ({ context }) => ({ ...service({ context }), ...watchedContext({ context }) }),
        onDone: [
          news,
          gone,
          {
            target: 'planning',
            actions: [changedPlan, { type: 'recordLook', params: watchedOf }],
          },
        ],
      },
    },
    checking: {
      description: 'Waits until the checks of the head have passed, or there is another head.',
      invoke: {
        id: 'awaitChecks',
        src: 'awaitChecks',
        input: ({ context }) => ({
          ...service({ context }),
          ...watchedContext({ context }),
          waiting: context.waiting!,
        }),
        onDone: [
          news,
          {
            guard: { type: 'havePassed', params: watchedOf },
            target: 'deciding',
            actions: { type: 'recordChecks', params: watchedOf },
          },
          gone,
          {
            target: 'planning',
            actions: [
              changedPlan,
              { type: 'recordLook', params: watchedOf },
              { type: 'recordChecks', params: watchedOf },
            ],
          },
        ],
      },
    },
    paused: {
      description: 'Waits until automatic deploys are on, and nothing stands against them.',
      invoke: {
        id: 'awaitPlan',
        src: 'awaitPlan',
        input: planned,
        onDone: [gone, { target: 'planning', actions: changedPlan }],
      },
    },
    deciding: {
      description: 'Decides whether the head is deployed, by its message and its changed files.',
      invoke: {
        id: 'decide',
        src: 'decide',
        input: ({ context }) => ({
          ...planned({ context }),
          head: context.found!,
          decision: context.decision,
          // A branch that was not there was pushed since.
          isPush: context.hasLooked || context.problem?.code === 'source_not_found',
        }),
        onDone: [
          { guard: { type: 'isOutdated', params: verdictOf }, target: 'planning' },
          {
            guard: { type: 'waits', params: verdictOf },
            target: 'checking',
            actions: { type: 'recordWait', params: verdictOf },
          },
          {
            guard: { type: 'deploys', params: verdictOf },
            target: 'deploying',
            actions: { type: 'recordVerdict', params: verdictOf },
          },
          { target: 'planning', actions: { type: 'recordVerdict', params: verdictOf } },
        ],
        onError: {
          target: 'planning',
          actions: { type: 'recordProblem', params: ({ event }) => event.error as Problem & SlotOutput },
        },
      },
    },
    deploying: {
      description: 'Queues the deploy.',
      invoke: {
        id: 'beginDeploy',
        src: 'beginDeploy',
        input: ({ context }) => {
          const { head, deployId } = context.decision!
          return { ...planned({ context }), head, deployId: deployId! }
        },
        onDone: [
          { guard: { type: 'isBegun', params: ({ event }) => event.output }, target: 'planning' },
          { target: 'planning', actions: assign({ decision: null, deed: null }) },
        ],
      },
    },
    ended: { description: 'Its service was removed.', type: 'final' },
  },
})

export type AutoDeploySnapshot = SnapshotFrom<typeof machine>

export function toRecord(snapshot: AutoDeploySnapshot) {
  const { id, serviceId, plan, decision, problem, failingSince, deed, at } = snapshot.context
  return {
    id,
    service_id: serviceId,
    status: snapshot.value as 'watching' | 'checking' | 'paused' | 'deciding' | 'deploying' | 'ended',
    phase: deed,
    source: plan.source,
    obstacle: plan.obstacle,
    decision: decision && {
      head: decision.head,
      at: decision.at,
      deploy_id: decision.deployId,
      reason: decision.reason,
    },
    /** Of the head that waits for them; null if none does. */
    checks: snapshot.context.waiting?.outcome ?? null,
    failing_since: failingSince,
    ...problemFields(problem),
    created_at: at,
  }
}

export type AutoDeployRecord = ReturnType<typeof toRecord>
