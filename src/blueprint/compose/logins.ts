// Users, passwords and databases of datastores in the variables of services, as references. What a variable
// is never follows from its value alone: passwords that happen to be the same are common.
import type { Draft, LoginPart, Variable } from './draft.ts'
import { isReferredTo, refer } from './references.ts'

const kindWords = {
  postgres: 'DB|PG|POSTGRES|POSTGRESQL|POSTGRESDB|DATABASE|SQL|DATASOURCE|JDBC',
  redis: 'REDIS|VALKEY|CACHE|BROKER|QUEUE',
}
const partWords: Record<LoginPart, string> = {
  user: 'USER|USERNAME|LOGIN',
  password: 'PASS|PASSWD|PASSWORD|PWD|PW|AUTH',
  database: 'DB|DATABASE|NAME|DBNAME|DATABASE_NAME|DB_NAME',
}
/** Accounts and secrets that are not those of a database. */
const otherWords = /ADMIN|ROOT|SUPERUSER|INITIAL|SECRET|TOKEN|KEY|SALT|MAIL|SMTP|JWT|COOKIE|SESSION|BACKUP/i

type DatastoreKind = keyof typeof kindWords

/** `DB_PASSWORD`, `PGPASSWORD`, `PAPERLESS_DBPASS`, `database__connection__password` */
const namesOfPart = (kind: DatastoreKind, part: LoginPart) =>
  new RegExp(`(^|_)(${kindWords[kind]})(_\\w{0,99}_|_{0,2})(${partWords[part]})$`, 'i')
const namesOfKind = (kind: DatastoreKind) =>
  new RegExp(`(^|[_:])(${kindWords[kind]})(?=_|$|${partWords.user}|${partWords.password}|NAME)`, 'i')

const named = {
  postgres: {
    kind: namesOfKind('postgres'),
    user: namesOfPart('postgres', 'user'),
    password: namesOfPart('postgres', 'password'),
    database: namesOfPart('postgres', 'database'),
  },
  redis: {
    kind: namesOfKind('redis'),
    user: namesOfPart('redis', 'user'),
    password: namesOfPart('redis', 'password'),
    database: namesOfPart('redis', 'database'),
  },
}

type Remark = (key: string, reason: string) => void
type Datastore = Draft & { kind: DatastoreKind }

/** After names of hosts have become references. */
export function referToLogins(draft: Draft, drafts: Draft[], remark: Remark): void {
  const texts = [...draft.env.values()].map(({ value }) => value)
  const datastores = drafts.filter((one): one is Datastore => one.kind !== 'service')
  const used = new Set(datastores.filter((one) => isReferredTo(one, texts) || draft.needs.has(one.original)))
  const user = [...draft.env.values()].find(({ key }) => named.postgres.user.test(key))
  for (const variable of [...draft.env.values()].filter(({ value }) => !value.includes('${{'))) {
    const found = datastores.filter((one) => isPassword(variable, one, used.has(one)))
    const [datastore] = found
    if (datastore === undefined) continue
    const { key, source } = variable
    const names = found.map(({ name }) => name).join(' or ')
    if (found.length > 1) remark(key, `it may be the password of ${names}: make it a reference`)
    else if (datastore.kind === 'postgres' && user && !isSame(user, datastore.login.user))
      remark(key, otherUser(user, datastore))
    else if (isPossible(variable, datastore)) {
      draft.env.set(key, toReference(variable, refer(datastore, 'password')))
      const isShared = source !== null && source === datastore.login.password?.source
      const why = isShared ? `both are ${source.replace(/^.*:/, '')}` : 'by its name and the host'
      remark(key, `it is the password of ${datastore.name} (${why}), and Berth makes a new one`)
      referToParts(draft, datastore)
    }
  }
}

function isPassword({ key, source }: Variable, { kind, login }: Datastore, isUsed: boolean): boolean {
  const isOther = otherWords.test(key)
  if (source === null || source !== login.password?.source)
    return isUsed && !isOther && named[kind].password.test(key)
  const isOfOtherKind = named[kind === 'redis' ? 'postgres' : 'redis'].kind.test(key)
  const isClear = named[kind].kind.test(key) || named[kind].kind.test(source)
  return isClear ? !isOfOtherKind || named[kind].kind.test(key) : !isOther && !isOfOtherKind
}

/** Two different values that are known are two passwords. */
function isPossible({ value, source, isUnknown }: Variable, { login: { password } }: Datastore): boolean {
  if (password === undefined || isUnknown || password.value === '') return true
  return value === password.value || (source !== null && source === password.source)
}

function otherUser({ value }: Variable, datastore: Datastore): string {
  const { name, login } = datastore
  return (
    `it is the password of '${value}', and the only user of ${name} is '${login.user?.value}': create the ` +
    `other with berth db psql ${name}, or use ${refer(datastore, 'user')} and ${refer(datastore, 'password')}`
  )
}

function referToParts({ env }: Draft, datastore: Datastore): void {
  const { kind, login } = datastore
  for (const variable of [...env.values()]) {
    const part = (['user', 'database'] as const).find(
      (one) => login[one] && isSame(variable, login[one]) && named[kind][one].test(variable.key),
    )
    if (part !== undefined) env.set(variable.key, toReference(variable, refer(datastore, part)))
  }
}

function isSame({ value, source }: Variable, login: Draft['login'][LoginPart]): boolean {
  return (source !== null && source === login?.source) || value === login?.value
}

function toReference(variable: Variable, value: string): Variable {
  return { ...variable, value, isSecret: false, isSuspect: false, isUnknown: false }
}
