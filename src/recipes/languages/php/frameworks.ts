// What is known of PHP frameworks.
import type { Tree } from '../../tree.ts'
import { readRequired } from './extensions.ts'

export interface Framework {
  name: string
  /** Those that most of its apps use without asking for them. */
  extensions: string[]
  env: Record<string, string>
  worker: string | null
  migration: string | null
}

const frameworks: (Framework & { package: string })[] = [
  {
    package: 'laravel/framework',
    name: 'Laravel',
    extensions: ['pcntl', 'pdo_mysql', 'pdo_pgsql', 'redis'],
    env: { LOG_CHANNEL: 'stderr' },
    worker: 'php artisan queue:work',
    migration: 'php artisan migrate --force',
  },
  {
    package: 'symfony/framework-bundle',
    name: 'Symfony',
    extensions: ['intl', 'pdo_mysql', 'pdo_pgsql'],
    env: { APP_ENV: 'prod' },
    worker: null,
    migration: null,
  },
]

const wordpress: Framework = {
  name: 'WordPress',
  extensions: ['exif', 'gd', 'intl', 'mysqli', 'zip'],
  env: {},
  worker: null,
  migration: null,
}

export function findFramework(app: Tree): Framework | null {
  const required = readRequired(app)
  const found = frameworks.find((framework) => required[framework.package] !== undefined)
  return found ?? (app.has('wp-includes/version.php') ? wordpress : null)
}
