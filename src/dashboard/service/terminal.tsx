// What the browser cannot do yet, as commands to copy.
import type { Service } from '../../api/service.ts'
import { Copy } from '../controls/copy.tsx'
import styles from './overview.module.css'

export function Terminal({ service: { name, type } }: { service: Service }) {
  const isPublic = type === 'web_service' || type === 'static_site'
  const commands = [
    ['Follow its output', `berth logs ${name} -f`],
    ...(isPublic ? [['Follow its requests', `berth logs ${name} --access -f`]] : []),
    ['Variables', `berth env edit ${name}`],
    ['Settings', `berth update ${name} --help`],
    ...(type === 'cron_job' ? [] : [['Instances', `berth scale ${name} 2`]]),
    ...(isPublic ? [['Add a domain', `berth domains add ${name} example.com`]] : []),
    ['Run a command', `berth run ${name} -- COMMAND`],
    ['Create a database', 'berth db create'],
  ] as [string, string][]
  return (
    <section className={styles.panel}>
      <h2>In the terminal</h2>
      <ul className={styles.list}>
        {commands.map(([label, command]) => (
          <li key={command} className={styles.command}>
            <span>
              {label}
              <code>{command}</code>
            </span>
            <Copy text={command} />
          </li>
        ))}
      </ul>
    </section>
  )
}
