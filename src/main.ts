#!/usr/bin/env node
// berthd: looks whether this host can run it, then loads it.
import { berthd, start } from './platform.ts'

start(berthd, () => import('./berthd.ts'))
