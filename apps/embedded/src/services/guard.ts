import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/**
 * A shell between us and the service. It waits at a pipe that only we hold: when the pipe closes, be it by `stop` or
 * because we were killed, it sends the service its signal. So no service outlives its owner, whatever ends that.
 */
const SCRIPT = `
signal=$1; shift
exec 4<&0 </dev/null
"$@" 3>&- 4<&- & service=$!
echo $service >&3
exec 3>&-
{ while read -r _; do :; done <&4; kill -s "$signal" $service; } 2>/dev/null & watcher=$!
exec 4<&-
wait $service; code=$?
kill $watcher 2>/dev/null
exit $code`;

/** A service under guard. */
export interface Guarded {
  /** The process id of the service itself. */
  readonly pid: number;
  /** Resolves with the exit code when the service has ended, for whatever reason. */
  readonly exited: Promise<number>;
  /** Ends the service: by its signal, and by SIGKILL if it is still there after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

/** How to start a service. */
export interface GuardOptions {
  command: string;
  args: string[];
  /** What tells the service to end in good order. */
  signal: 'INT' | 'TERM';
  /** An open file for its standard output and error. */
  logFd: number;
  /** A folder that the service's user can enter. */
  cwd: string;
  /** As whom to run; the caller's own user by default. */
  user?: { uid: number; gid: number };
}

/** Starts a service in a process group of its own, so that Ctrl-C in a terminal reaches only the owner. */
export async function startGuarded(options: GuardOptions): Promise<Guarded> {
  const { command, args, signal, logFd, cwd, user } = options;
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'guard', signal, command, ...args], {
    cwd,
    detached: true,
    stdio: ['pipe', logFd, logFd, 'pipe'],
    ...user,
  });
  const exited = exitOf(shell);
  const pid = Number(await text(shell.stdio[3] as Readable));
  if (!Number.isInteger(pid) || pid <= 0) throw new Error(`The shell that guards ${command} told no process id.`);
  const stop = async (graceMs = 20_000): Promise<void> => {
    shell.stdin?.destroy();
    const last = setTimeout(() => kill(pid), graceMs);
    await exited;
    clearTimeout(last);
  };
  return { pid, exited, stop };
}

function exitOf(shell: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    shell.stdin?.on('error', () => undefined);
    shell.once('error', () => resolve(127));
    shell.once('exit', (code) => {
      shell.stdin?.destroy();
      resolve(code ?? 1);
    });
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
