// What an app is seen to keep in files, and where a disk can cover it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recipeOf, type Source } from '../support/recipes/recipe-of.ts'

type Files = Source['files']

const node = (dependencies: object, files: Files): Files => ({
  'package.json': { scripts: { start: 'node server.js' }, dependencies },
  ...files,
})
/** Path, disk and variable of each. */
const stored = (files: Files, rootDir = '') =>
  recipeOf({ files, rootDir }).storedData.map(({ path, disk, variable }) => [path, disk, variable])
const reasons = (files: Files) => recipeOf({ files }).storedData.map(({ reason }) => reason)

test('the file that a program opens is found, and a disk next to the code is never proposed', () => {
  const sqlite = { 'better-sqlite3': '^11' }
  const open = (expression: string, file = 'server.js') =>
    stored(
      node(sqlite, { [file]: `const Database = require('better-sqlite3')\nnew Database(${expression})` }),
    )
  assert.deepEqual(open("'data.db'"), [['/app/data.db', '/app/data', null]])
  assert.deepEqual(open("'./data/app.sqlite'"), [['/app/data/app.sqlite', '/app/data', null]])
  assert.deepEqual(open("path.join(__dirname, '..', 'var', 'app.db')", 'src/db.js'), [
    ['/app/var/app.db', '/app/var', null],
  ])
  assert.deepEqual(open("process.env.DB_PATH || path.resolve('store/app.db')"), [
    ['/app/store/app.db', '/app/store', 'DB_PATH'],
  ])
  assert.deepEqual(open("'/data/app.db'"), [['/data/app.db', '/data', null]])
  assert.deepEqual(open('file'), [[null, '/app/data', null]])
  assert.deepEqual(open("':memory:'"), [])
  assert.deepEqual(open("'words.db', { readonly: true }"), [])
})

test('the reason names the library, the file and what to change', () => {
  assert.deepEqual(
    reasons(node({ sqlite3: '5' }, { 'server.js': "new sqlite3.Database(process.env.DB_FILE ?? 'a.db')" })),
    [
      'sqlite3 keeps its data in /app/a.db (server.js), next to the code: ' +
        'let DB_FILE name a file in /app/data',
    ],
  )
  assert.deepEqual(reasons(node({ 'better-sqlite3': '11' }, { 'server.js': 'new Database(file)' })), [
    'better-sqlite3 keeps its data in files, and the source does not show where',
  ])
})

test('a library for development, or next to one of a server, keeps nothing', () => {
  const files = { 'server.js': 'listen()' }
  const development = { scripts: { start: 'node server.js' }, devDependencies: { 'better-sqlite3': '11' } }
  assert.deepEqual(stored({ ...files, 'package.json': development }), [])
  assert.deepEqual(stored(node({ pg: '8', sqlite3: '5' }, files)), [])
  assert.deepEqual(stored(node({ '@libsql/client': '1' }, files)), [])
  assert.deepEqual(
    stored(node({ sqlite3: '5' }, { 'server.js': '', 'test/db.js': "new Database('test/x.db')" })),
    [[null, '/app/data', null]],
  )
})

test('what comes with the runtime is known by its import', () => {
  const source = (module: string) => ({
    'server.js': `import { DatabaseSync } from '${module}'\nnew DatabaseSync('app.db')`,
  })
  assert.deepEqual(stored(node({}, source('node:sqlite'))), [['/app/app.db', '/app/data', null]])
  assert.deepEqual(stored(node({}, source('bun:sqlite'))), [['/app/app.db', '/app/data', null]])
  assert.deepEqual(stored({ 'main.py': "import sqlite3\ndb = sqlite3.connect('data/app.db')" }), [
    ['/app/data/app.db', '/app/data', null],
  ])
})

test('addresses of SQLite are understood in each language', () => {
  const python = (packages: string, text: string) => ({ 'requirements.txt': packages, 'main.py': text })
  assert.deepEqual(stored(python('sqlalchemy', "create_engine('sqlite:///./app.db')")), [
    ['/app/app.db', '/app/data', null],
  ])
  const fallback = "url = os.getenv('DATABASE_URL', 'sqlite:////data/app.db')"
  assert.deepEqual(stored(python('sqlalchemy', fallback)), [['/data/app.db', '/data', 'DATABASE_URL']])
  assert.deepEqual(stored(python('sqlalchemy', "create_engine('postgresql://db/app')")), [])
  const flask = "app.config['SQLALCHEMY_DATABASE_URI'] = 'sqlite:///app.db'"
  assert.deepEqual(stored(python('Flask-SQLAlchemy', flask)), [
    ['/app/instance/app.db', '/app/instance', null],
  ])
  const go = 'package main\nfunc main() {\n sql.Open("sqlite", "./var/app.db")\n}'
  assert.deepEqual(stored({ 'main.go': go, 'go.mod': 'module a\nrequire modernc.org/sqlite v1.34.0\n' }), [
    ['/app/var/app.db', '/app/var', null],
  ])
  const rust = { 'src/main.rs': 'fn main() { connect("sqlite://todos.db?mode=rwc") }' }
  const crate = (dependencies: string) =>
    stored({ ...rust, 'Cargo.toml': `[package]\nname = "a"\n[dependencies]\n${dependencies}` })
  assert.deepEqual(crate('sqlx = { version = "0.8", features = ["sqlite"] }'), [
    ['/app/todos.db', '/app/data', null],
  ])
  assert.deepEqual(crate('sqlx = { version = "0.8", features = ["postgres"] }'), [])
  assert.deepEqual(stored({ 'index.php': "<?php $db = new PDO('sqlite:' . __DIR__ . '/var/app.sqlite');" }), [
    ['/srv/app/var/app.sqlite', '/srv/app/var', null],
  ])
  const ruby = { 'app.rb': "require 'sinatra'\nDB = Sequel.connect('sqlite://blog.db')" }
  assert.deepEqual(stored({ ...ruby, Gemfile: 'gem "sinatra"\ngem "sequel"\ngem "sqlite3"' }), [
    ['/app/blog.db', '/app/data', null],
  ])
  const pom =
    '<project><artifactId>spring-boot-maven-plugin</artifactId><artifactId>sqlite-jdbc</artifactId></project>'
  const properties = 'spring.datasource.url=jdbc:sqlite:data/app.db\n'
  assert.deepEqual(stored({ 'pom.xml': pom, 'src/main/resources/application.properties': properties }), [
    ['/app/data/app.db', '/app/data', null],
  ])
})

test('the settings of frameworks are read: Django, Prisma, Rails, Laravel', () => {
  const django = (path: string) => ({
    'requirements.txt': 'django\ngunicorn',
    'manage.py': 'django',
    'shop/wsgi.py': '',
    'shop/settings.py': [
      'BASE_DIR = Path(__file__).resolve().parent.parent',
      "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3',",
      `    'NAME': BASE_DIR / ${path}}}`,
    ].join('\n'),
  })
  assert.deepEqual(stored(django("'db.sqlite3'")), [['/app/db.sqlite3', '/app/data', null]])
  assert.deepEqual(stored(django("'data' / 'db.sqlite3'")), [['/app/data/db.sqlite3', '/app/data', null]])
  const prisma = (source: string) =>
    stored(
      node(
        { '@prisma/client': '6' },
        { 'server.js': '', 'prisma/schema.prisma': `datasource db {\n${source}\n}` },
      ),
    )
  const sqlite = 'provider = "sqlite"\n'
  const schema = `datasource db {\n${sqlite}url = env("DATABASE_URL")\n}`
  const files = node({ '@prisma/client': '6' }, { 'server.js': '', 'prisma/schema.prisma': schema })
  assert.equal(recipeOf({ files }).storedData[0]?.base, '/app/prisma')
  assert.deepEqual(prisma(`${sqlite}url = "file:./dev.db"`), [['/app/prisma/dev.db', '/app/data', null]])
  assert.deepEqual(prisma(`${sqlite}url = env("DATABASE_URL")`), [[null, '/app/data', 'DATABASE_URL']])
  assert.deepEqual(prisma('provider = "postgresql"\nurl = env("DATABASE_URL")'), [])
  const rails = (production: string) => ({
    Gemfile: 'gem "rails"\ngem "sqlite3"',
    'bin/rails': '',
    'config/database.yml': `default: &a\n  adapter: sqlite3\nproduction:\n  <<: *a\n${production}`,
  })
  assert.deepEqual(stored(rails('  database: storage/production.sqlite3\n')), [
    ['/app/storage/production.sqlite3', '/app/storage', 'DATABASE_URL'],
  ])
  assert.deepEqual(stored(rails('  adapter: postgresql\n')), [])
  const laravel = {
    artisan: '',
    'composer.json': { require: { 'laravel/framework': '^12' } },
    'public/index.php': '',
    'config/database.php': "<?php return ['default' => env('DB_CONNECTION', 'sqlite')];",
    'database/migrations/a.php': '',
  }
  assert.deepEqual(stored(laravel), [['/srv/app/database/database.sqlite', '/srv/app/data', 'DB_DATABASE']])
})

test('folders of uploads are found', () => {
  const multer = (text: string, file = 'server.js') =>
    stored(node({ multer: '2' }, { [file]: `multer; ${text}` }))
  assert.deepEqual(multer("const upload = multer({ dest: 'uploads/' })"), [
    ['/app/uploads', '/app/uploads', null],
  ])
  assert.deepEqual(multer("destination: (req, file, cb) => cb(null, 'public/uploads')"), [
    ['/app/public/uploads', '/app/public/uploads', null],
  ])
  assert.deepEqual(multer("multer({ dest: path.join(__dirname, '../files') })", 'src/server.js'), [
    ['/app/files', '/app/files', null],
  ])
  assert.deepEqual(multer('multer({ storage: multer.memoryStorage() })'), [])
  assert.deepEqual(stored(node({}, { 'server.js': '', 'public/uploads/.gitkeep': '' })), [
    ['/app/public/uploads', '/app/public/uploads', null],
  ])
  assert.deepEqual(stored(node({}, { 'server.js': '', 'public/uploads/a.png': '' })), [])
  const flask = "app.config['UPLOAD_FOLDER'] = os.path.join('static', 'uploads')"
  assert.deepEqual(stored({ 'requirements.txt': 'flask\ngunicorn', 'app.py': `app = Flask(x)\n${flask}` }), [
    ['/app/static/uploads', '/app/static/uploads', null],
  ])
  const settings = "BASE_DIR = Path(__file__).parent.parent\nMEDIA_ROOT = BASE_DIR / 'media'"
  const django = { 'requirements.txt': 'django\ngunicorn', 'manage.py': '', 'shop/wsgi.py': '' }
  assert.deepEqual(stored({ ...django, 'shop/settings.py': settings }), [['/app/media', '/app/media', null]])
})

test('in a workspace, only the app and the packages that it needs count', () => {
  const member = (name: string, rest: object = {}) => ({
    name,
    scripts: { start: 'node server.js' },
    ...rest,
  })
  const files = {
    'package.json': { workspaces: ['apps/*', 'packages/*'] },
    'apps/api/package.json': member('api', { dependencies: { db: '*' } }),
    'apps/api/server.js': '',
    'apps/other/package.json': member('other', { dependencies: { 'better-sqlite3': '11' } }),
    'apps/other/server.js': "new Database('other.db')",
    'packages/db/package.json': { name: 'db', dependencies: { sqlite3: '5' } },
    'packages/db/index.js': "new Database(path.join(__dirname, 'files', 'a.db'))",
  }
  assert.deepEqual(stored(files, 'apps/api'), [
    ['/app/packages/db/files/a.db', '/app/packages/db/files', null],
  ])
})

test('pages keep nothing', () => {
  const vite = { 'package.json': { dependencies: { vite: '6', sqlite3: '5' } }, 'index.html': '' }
  assert.deepEqual(stored(vite), [])
})
