#!/bin/sh
// 2>/dev/null; exec node -- "$0" "$@"
// berth: looks whether this Node can run it, then loads it.
// A shell starts Node with `--`: without it, Node 20 takes the option --env-file of `berth` for its own.
// To the shell, the second line is a command that fails, and exec. busybox has no `env -S`.
import { berth, start } from '../platform.ts'

start(berth, () => import('./berth.ts'))
