// Alerts: listed, acknowledged, and the settings of their rules.
import { z } from 'zod'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Caller } from '../../account/callers.ts'
import { reachesService } from '../../account/rights.ts'
import {
  Alert,
  AlertParams,
  AlertRule,
  AlertRuleParams,
  AlertsQuery,
  UpdateAlertRule,
} from '../../api/alert.ts'
import { alertRule, type RuleCode, ruleCodes, ruleSettings } from '../../domain/alert-rules.ts'
import { conflict, invalidField, notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, type CallById, get, patch, post, tagged, type WithHeaders } from '../pipeline/route.ts'
import { ownerOf, paged } from '../records/paging.ts'
import { command } from '../records/requester.ts'
import { finder, shownFields } from '../records/stored-record.ts'

type Found = RecordOf<'alert'>

const findAlert = finder<'alert'>('alr', 'alert', 'berth alerts lists them')
const readAlert = ({ storage }: HttpContext, id: string) => toAlert(findAlert(storage, id))

export const alertRoutes = tagged('Alerts', [
  get('/alerts', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists alerts, newest first; by default those that are open',
    query: AlertsQuery,
    response: z.array(Alert),
    handler: listAlerts,
  }),
  get('/alerts/{id}', {
    role: 'read',
    scope: 'record',
    summary: 'Returns an alert',
    params: AlertParams,
    response: Alert,
    handler: ({ context, params }) => readAlert(context, params.id),
  }),
  post('/alerts/{id}/acknowledge', {
    role: 'deploy',
    scope: 'record',
    summary: 'Acknowledges an alert: further equal events are counted and not reported',
    params: AlertParams,
    response: Alert,
    replay: readAlert,
    problems: ['conflict'],
    handler: acknowledgeAlert,
  }),
  get('/alert-rules', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists the rules of alerts with their settings',
    response: z.array(AlertRule),
    handler: ({ context, caller }) => ruleCodes.map((code) => toRule(context, caller, code)),
  }),
  patch('/alert-rules/{code}', {
    summary: 'Changes the threshold of a rule or turns it off or on, for all subjects or for one',
    params: AlertRuleParams,
    body: UpdateAlertRule,
    response: AlertRule,
    handler: updateRule,
  }),
])

function listAlerts(call: Call<unknown, AlertsQuery>): WithHeaders<Alert[]> {
  const { caller, context, query } = call
  const { actors } = context.storage
  const { state, service, limit, before } = query
  const owner = service === undefined ? undefined : ownerOf(context.storage, service)
  const accepts = (record: Found) =>
    reachesService(caller, record.service_id) &&
    (state === 'all' || state === record.status || (state === 'open' && record.status !== 'recovered'))
  if (state === 'all' || state === 'recovered') {
    const owners = owner === undefined ? undefined : [owner]
    const { records, next } = actors.page('alert', owners, { limit, before, accepts })
    return paged(call, records.map(toAlert), next)
  }
  // Only these are active, whatever is stored of earlier ones.
  const ids = [...actors.active('alert', owner)].map(({ id }) => id).filter((id) => id < (before ?? '~'))
  const found = ids
    .sort()
    .reverse()
    .flatMap((id) => actors.record<'alert'>(id) ?? [])
  const shown = found.filter(accepts)
  const page = shown.slice(0, limit)
  return paged(call, page.map(toAlert), shown.length > limit ? page.at(-1)!.id : null)
}

function toAlert(record: Found): Alert {
  return shownFields(Alert, record, { rule: record.rule as RuleCode })
}

async function acknowledgeAlert(call: CallById): Promise<Alert> {
  const { context, params, eventId } = call
  const { id, status } = findAlert(context.storage, params.id)
  if (status !== 'acknowledged') {
    const { applied } = await context.actors.send(id, command(call, 'acknowledge'), { eventId })
    if (!applied) throw conflict('this alert has ended', `berth alerts show ${id}`)
  }
  return readAlert(context, id)
}

function toRule({ storage }: HttpContext, caller: Caller | null, code: RuleCode): AlertRule {
  const { about, severity, when, unit, threshold: ownThreshold } = alertRule(code)
  const general = storage.alerts.rule(code, '')
  const exceptions = [...storage.alerts.rules(code)]
    .filter(({ subject }) => subject !== '' && reachesService(caller, subject))
    .map(({ subject, row }) => ({
      subject: storage.nameOf(subject) ?? subject,
      ...ruleSettings(code, row, general),
    }))
  const settings = ruleSettings(code, general)
  return { code, about, severity, when, unit, default_threshold: ownThreshold, ...settings, exceptions }
}

async function updateRule(call: Call<AlertRuleParams, unknown, UpdateAlertRule>): Promise<AlertRule> {
  const { context, caller, params, body } = call
  const { alerts } = context.storage
  const code = ruleCodes.find((known) => known === params.code)
  if (code === undefined) throw notFound('there is no such rule', 'berth alerts rules')
  const { enabled, threshold, reset = false } = body
  if (threshold !== undefined) assertThreshold(code, threshold)
  const subject = body.subject === undefined ? '' : ownerOf(context.storage, body.subject)
  const row = {
    ...(!reset && alerts.rule(code, subject)),
    ...(enabled !== undefined && { enabled }),
    ...(threshold !== undefined && { threshold }),
  }
  await alerts.setRule(code, subject, Object.keys(row).length === 0 ? null : row)
  await endDisabled(call, code)
  return toRule(context, caller, code)
}

function assertThreshold(code: RuleCode, threshold: number): void {
  const { unit } = alertRule(code)
  if (unit === null) throw invalidField('threshold', `the rule ${code} has none: turn it off instead`)
  if (unit === '%' && threshold > 100) throw invalidField('threshold', 'must be at most 100 %')
}

async function endDisabled(call: Call, code: RuleCode): Promise<void> {
  const { storage, actors } = call.context
  const end = { number: null, reason: 'the rule was turned off', isFinal: true }
  for (const { id } of [...storage.actors.active('alert')]) {
    const record = storage.actors.record<'alert'>(id)
    if (record?.rule !== code) continue
    const { alerts } = storage
    const { enabled } = ruleSettings(code, alerts.rule(code, record.subject.id), alerts.rule(code, ''))
    if (!enabled) await actors.send(id, command(call, 'clear', end))
  }
}
