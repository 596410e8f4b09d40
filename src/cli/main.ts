#!/usr/bin/env node
// berth: looks whether this Node can run it, then loads it.
import { berth, start } from '../platform.ts'

start(berth, () => import('./berth.ts'))
