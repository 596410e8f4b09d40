// The web frameworks of Python, and the servers that run them.
import type { Reasoned } from '../../recipe.ts'

export interface Start extends Reasoned {
  /** `FastAPI`. Null for plain Python. */
  framework: string | null
  listens: boolean
}

/** A sentence about what was nearest. */
export interface Miss {
  problem: string
}

export interface Framework {
  package: string
  name: string
  /** What makes the object that the server is given, as in `app = FastAPI()`. */
  makes: RegExp
  /** Of that object, as `server` of Dash. */
  attribute?: string
  servers: Server[]
}

interface Server {
  /** Any of these packages brings it. */
  packages: string[]
  /** `TARGET` is `main:app`. */
  command: string
  warning?: string
}

const uvicorn: Server = {
  packages: ['uvicorn', 'fastapi[standard]', 'fastapi[all]', 'python-fasthtml'],
  command: 'uvicorn TARGET --host 0.0.0.0 --port $PORT',
}
const hypercorn: Server = {
  packages: ['hypercorn', 'quart'],
  command: 'hypercorn TARGET --bind 0.0.0.0:$PORT',
}
const gunicorn: Server = { packages: ['gunicorn'], command: 'gunicorn --bind 0.0.0.0:$PORT TARGET' }
const waitress: Server = {
  packages: ['waitress'],
  command: 'waitress-serve --host 0.0.0.0 --port $PORT TARGET',
}
const flaskItself: Server = {
  packages: ['flask'],
  command: 'flask --app TARGET run --host 0.0.0.0 --port $PORT',
  warning: 'this is the development server of Flask, because gunicorn is not among the packages',
}

const asgi = [uvicorn, hypercorn]
const wsgi = [gunicorn, waitress]
export const frameworks: Framework[] = [
  { package: 'python-fasthtml', name: 'FastHTML', makes: /FastHTML|fast_app/, servers: asgi },
  { package: 'fastapi', name: 'FastAPI', makes: /FastAPI/, servers: asgi },
  { package: 'litestar', name: 'Litestar', makes: /Litestar/, servers: asgi },
  { package: 'quart', name: 'Quart', makes: /Quart/, servers: asgi },
  { package: 'dash', name: 'Dash', makes: /Dash/, attribute: 'server', servers: wsgi },
  { package: 'flask', name: 'Flask', makes: /Flask/, servers: [...wsgi, flaskItself] },
  { package: 'starlette', name: 'Starlette', makes: /Starlette/, servers: asgi },
  { package: 'falcon', name: 'Falcon', makes: /App/, servers: [...wsgi, ...asgi] },
]
