// Recipes for Python.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dockerfileOf, problemOf, recipeOf, startOf } from '../../support/recipes/recipes.ts'

const flask = 'from flask import Flask\napp = Flask(__name__)\n'
const fastapi = 'from fastapi import FastAPI\n\napi: FastAPI = FastAPI(title="x")\n'
const django = {
  'manage.py': 'import django',
  'mysite/settings.py': "WSGI_APPLICATION = 'mysite.wsgi.application'\n",
  'mysite/wsgi.py': '',
  'mysite/asgi.py': '',
}

const starts: Record<string, [Record<string, string>, string]> = {
  'Flask with gunicorn': [
    { 'requirements.txt': 'Flask\nGunicorn', 'app.py': flask },
    'gunicorn --bind 0.0.0.0:$PORT app:app',
  ],
  'Flask without a server': [
    { 'requirements.txt': 'flask==3', 'main.py': flask },
    'flask --app main:app run --host 0.0.0.0 --port $PORT',
  ],
  'a factory of Flask': [
    { 'requirements.txt': 'flask\nwaitress', 'shop/__init__.py': 'def create_app(config=None):\n' },
    "waitress-serve --host 0.0.0.0 --port $PORT 'shop:create_app()'",
  ],
  FastAPI: [
    { 'requirements.txt': 'fastapi\nuvicorn[standard]', 'src/main.py': fastapi },
    'uvicorn src.main:api --host 0.0.0.0 --port $PORT',
  ],
  'FastAPI by a function': [
    { 'requirements.txt': 'fastapi\nuvicorn', 'app/main.py': 'app: FastAPI = get_application()\n' },
    'uvicorn app.main:app --host 0.0.0.0 --port $PORT',
  ],
  'FastAPI with its standard extra': [
    { 'pyproject.toml': '[project]\ndependencies = ["fastapi[standard]>=0.115"]', 'main.py': fastapi },
    'uvicorn main:api --host 0.0.0.0 --port $PORT',
  ],
  FastHTML: [
    { 'requirements.txt': 'python-fasthtml', 'main.py': 'app, rt = fast_app(live=True)' },
    'uvicorn main:app --host 0.0.0.0 --port $PORT',
  ],
  Dash: [
    { 'requirements.txt': 'dash\nflask\ngunicorn', 'app.py': 'app = dash.Dash()' },
    'gunicorn --bind 0.0.0.0:$PORT app:app.server',
  ],
  Streamlit: [
    { 'requirements.txt': 'streamlit', 'app.py': 'import streamlit as st' },
    'streamlit run app.py --server.address 0.0.0.0 --server.port $PORT --server.headless true',
  ],
  'Django with gunicorn': [
    { ...django, 'requirements.txt': 'Django>=5\ngunicorn' },
    'gunicorn --bind 0.0.0.0:$PORT mysite.wsgi:application',
  ],
  'Django in a folder, with Poetry': [
    {
      'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.12"\nDjango = "*"\ngunicorn = "*"',
      ...Object.fromEntries(Object.entries(django).map(([path, text]) => [`web/${path}`, text])),
    },
    'gunicorn --chdir web --bind 0.0.0.0:$PORT mysite.wsgi:application',
  ],
  'Django with uvicorn': [
    { ...django, 'requirements.txt': 'django\nuvicorn' },
    'uvicorn --host 0.0.0.0 --port $PORT mysite.asgi:application',
  ],
  'Django without a server': [
    { ...django, Pipfile: '[packages]\ndjango = "*"' },
    'python manage.py runserver 0.0.0.0:$PORT --noreload',
  ],
  'FastAPI that runs itself': [
    { 'requirements.txt': 'fastapi', 'main.py': `${fastapi}uvicorn.run(api)` },
    'python main.py',
  ],
  'a main file': [{ 'main.py': 'print(1)' }, 'python main.py'],
  'a script of the project': [
    { 'pyproject.toml': '[project]\nname = "shop"\n[project.scripts]\nserve = "shop:main"' },
    'serve',
  ],
  'a package that runs': [{ 'requirements.txt': 'aiohttp', 'shop/__main__.py': '' }, 'python -m shop'],
  'a Procfile': [
    { 'requirements.txt': 'flask', 'app.py': flask, Procfile: 'web: python app.py --x' },
    'python app.py --x',
  ],
}

for (const [what, [source, command]] of Object.entries(starts))
  test(`${what} starts by itself`, () => assert.equal(startOf(source), command))

test('a worker has no port, and may be Celery', () => {
  const source = {
    'requirements.txt': 'celery\nflask\ngunicorn',
    'app.py': flask,
    'tasks.py': "app = Celery('tasks')",
  }
  assert.equal(startOf(source, { type: 'background_worker' }), 'celery --app tasks worker --loglevel info')
  assert.equal(recipeOf(source, { type: 'background_worker' }).port, null)
  assert.equal(recipeOf(source).port, 8000)
  assert.equal(recipeOf({ 'bot.py': '' }).port, null)
})

const versions: Record<string, [Record<string, string>, string]> = {
  'a file of its own': [{ '.python-version': '# why\n3.11.11\n' }, '3.11.11'],
  'runtime.txt': [{ 'runtime.txt': 'python-3.12.4' }, '3.12.4'],
  'a word for the newest': [{ '.python-version': 'latest' }, '3.13'],
  'a range': [{ 'pyproject.toml': '[project]\nrequires-python = "<3.12,>=3.9"' }, '3.11'],
  Pipfile: [{ Pipfile: '[requires]\npython_version = "3.10"' }, '3.10'],
  Poetry: [{ 'pyproject.toml': '[tool.poetry.dependencies]\npython = "~3.14"' }, '3.14'],
}

for (const [what, [source, tag]] of Object.entries(versions))
  test(`the version follows ${what}`, () => {
    const dockerfile = dockerfileOf({ 'main.py': '', ...source })
    assert.match(dockerfile, new RegExp(`^FROM python:${tag}-slim AS app$`, 'm'))
  })

const installs: Record<string, [Record<string, string>, string[]]> = {
  'requirements with an include': [
    { 'requirements.txt': '-r requirements/base.txt', 'requirements/base.txt': 'flask' },
    [
      'COPY requirements.txt ./',
      'COPY requirements/base.txt ./requirements/',
      'python -m venv .venv && pip install -r requirements.txt',
    ],
  ],
  'requirements with a local package': [
    { 'requirements.txt': '-e .' },
    ['COPY . .', 'pip install -r requirements.txt'],
  ],
  'Poetry of a version': [
    { 'poetry.lock': '', 'pyproject.toml': '[tool.poetry]\nname = "a"', '.tool-versions': 'poetry 1.8.2' },
    [
      'pip install poetry==1.8.2',
      'COPY pyproject.toml poetry.lock ./',
      'poetry install --only main --no-root',
    ],
  ],
  PDM: [{ 'pdm.lock': '', 'pyproject.toml': '[project]' }, ['pip install pdm', 'pdm sync --prod --no-self']],
  Pipenv: [
    { Pipfile: '', 'Pipfile.lock': '' },
    ['pip install pipenv', 'COPY Pipfile Pipfile.lock ./', 'pipenv sync'],
  ],
  'a workspace of uv': [
    {
      'uv.lock': '',
      'pyproject.toml': '[project]\nname = "a"\ndependencies = ["b"]\n[tool.uv.workspace]\nmembers = ["b"]',
      'b/pyproject.toml': '[project]\nname = "b"\ndependencies = ["psycopg2"]',
    },
    [
      'FROM python:3.13 AS build',
      'COPY pyproject.toml uv.lock ./',
      'COPY b/pyproject.toml ./b/',
      'uv sync --locked --no-dev --no-install-workspace',
      'COPY . .',
      'uv sync --locked --no-dev',
      'FROM python:3.13-slim AS app',
      'apt-get install -y --no-install-recommends libpq5 ',
    ],
  ],
  'a package without a lock file': [
    {
      'pyproject.toml':
        '[project]\nname = "my-shop"\ndependencies = ["flask"]\n[build-system]\nrequires = []',
      'src/my_shop/__init__.py': '',
    },
    ['COPY pyproject.toml ./', 'uv sync --no-dev --no-install-workspace', 'COPY . .', 'uv sync --no-dev'],
  ],
}

for (const [what, [source, parts]] of Object.entries(installs))
  test(`packages are installed from ${what}`, () => {
    const dockerfile = dockerfileOf({ 'main.py': '', ...source })
    let end = 0
    for (const part of parts) {
      const from = dockerfile.indexOf(part, end)
      assert.ok(from >= 0, `${part} does not follow in:\n${dockerfile}`)
      end = from + part.length
    }
  })

test('modules in src are found by names with and without it', () => {
  const source = { 'requirements.txt': 'flask', 'src/shop/web.py': 'app = Flask(__name__)' }
  assert.match(dockerfileOf(source), / PYTHONPATH=\/app\/src$/m)
  assert.doesNotMatch(dockerfileOf({ 'main.py': '' }), /PYTHONPATH/)
})

test('without packages there is one stage', () => {
  const { stages } = recipeOf({ 'main.py': '', 'pyproject.toml': '[project]\nname = "a"\ndependencies = []' })
  assert.deepEqual(
    stages.map(({ name }) => name),
    ['app'],
  )
})

test('a wheel with its library needs nothing of Debian', () => {
  const dockerfile = (line: string) => dockerfileOf({ 'main.py': '', 'requirements.txt': line })
  assert.doesNotMatch(dockerfile('psycopg[binary]>=3'), /apt-get/)
  assert.match(dockerfile('psycopg>=3'), /install.* libpq5 /)
  assert.match(dockerfile('uwsgi'), /^FROM python:3.13 AS build[\s\S]* AS app\nRUN .* libxml2 /m)
  assert.match(dockerfile('x @ git+https://example.com/x.git'), /^FROM python:3.13 AS build$/m)
})

test('Django collects its static files, and migrates only if its owner agrees', () => {
  const source = { ...django, 'requirements.txt': 'django\ngunicorn' }
  assert.doesNotMatch(dockerfileOf(source), /collectstatic|migrate/)
  const settings = 'import os\nSTATIC_ROOT = BASE_DIR / "staticfiles"\n'
  const collecting = { ...source, 'mysite/settings.py': settings }
  assert.match(dockerfileOf(collecting, { env: ['SECRET_KEY'] }), /id=SECRET_KEY .*manage\.py collectstatic/)
  const conditional = { ...source, 'mysite/settings.py': 'if not DEBUG:\n    STATIC_ROOT = "x"\n' }
  assert.match(dockerfileOf(conditional), /collectstatic --noinput \|\| true$/m)
  assert.equal(recipeOf(source).proposals[0]?.value, 'python manage.py migrate --noinput')
})

test('assets are built before static files are collected', () => {
  const dockerfile = dockerfileOf({
    ...django,
    'requirements.txt': 'django\ngunicorn',
    'mysite/settings.py': 'STATIC_ROOT = "x"',
    'package.json': '{"scripts":{"build":"x"}}',
  })
  assert.match(dockerfile, /RUN npm run build\nRUN rm -rf node_modules\nRUN .*collectstatic/)
})

test('a refusal says what was nearest', () => {
  assert.equal(
    problemOf({ 'requirements.txt': 'requests' }),
    'requirements.txt is there, but no web framework and no main.py or app.py',
  )
  assert.equal(
    problemOf({ 'requirements.txt': 'fastapi' }),
    'FastAPI is among the packages, but no file makes its app, and there is no main.py or app.py',
  )
  assert.equal(
    problemOf({ 'requirements.txt': 'fastapi', 'main.py': fastapi }),
    'main.py makes an app of FastAPI, but no server is among the packages: add uvicorn',
  )
})

test('tools in Python do not make an app of JavaScript one of Python', () => {
  const server = { 'package.json': '{"scripts":{"start":"node a.js"}}', 'requirements.txt': 'awscli' }
  assert.equal(recipeOf(server).title, 'Node.js')
  assert.equal(recipeOf({ 'index.html': '', 'pyproject.toml': '[tool.ruff]' }).title, 'Pages')
})
