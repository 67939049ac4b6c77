import { expect, test, vi, onTestFinished } from 'vitest';
import { KeepAlive, type Running } from './keep-alive.js';

/** Something whose end the test decides. */
class Subject implements Running {
  readonly exited: Promise<number>;
  stopped = false;
  end!: (code: number) => void;

  constructor(readonly pid: number) {
    this.exited = new Promise((resolve) => (this.end = resolve));
  }

  stop(): Promise<void> {
    this.stopped = true;
    this.end(0);
    return Promise.resolve();
  }
}

function grow(subjects: Subject[]): Subject {
  const subject = new Subject(subjects.length);
  subjects.push(subject);
  return subject;
}

function withTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

test('what dies is started again, after pauses that grow', async () => {
  withTimers();
  const subjects: Subject[] = [];
  const pauses: number[] = [];
  const restarted: number[] = [];
  const kept = await KeepAlive.start({
    start: () => Promise.resolve(grow(subjects)),
    onDeath: (_code, pauseMs) => pauses.push(pauseMs),
    onRestart: ({ pid }) => restarted.push(pid),
  });
  for (let death = 0; death < 8; death += 1) {
    subjects.at(-1)?.end(1);
    await vi.advanceTimersByTimeAsync(0);
    expect(kept.state).toBe('pausing');
    await vi.advanceTimersByTimeAsync(pauses.at(-1) ?? 0);
    expect(kept.state).toBe('running');
  }
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(restarted).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(kept.current.pid).toBe(8);
});

test('a start that fails is tried again', async () => {
  withTimers();
  const first = new Subject(1);
  const starts = [
    () => Promise.resolve(first),
    () => Promise.reject(new Error('no')),
    () => Promise.resolve(new Subject(2)),
  ];
  const deaths: (number | undefined)[] = [];
  const kept = await KeepAlive.start({
    start: () => starts.shift()?.() ?? Promise.reject(new Error('no more')),
    onDeath: (code) => deaths.push(code),
    onRestart: () => undefined,
  });
  first.end(7);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(deaths).toEqual([7, undefined]);
  expect(kept.current.pid).toBe(2);
});

test('what is stopped stays stopped, also in the pause before a start', async () => {
  withTimers();
  const subjects: Subject[] = [];
  const make = (): Promise<KeepAlive<Subject>> =>
    KeepAlive.start({
      start: () => Promise.resolve(grow(subjects)),
      onDeath: () => undefined,
      onRestart: () => undefined,
    });
  const running = await make();
  await running.stop();
  const pausing = await make();
  subjects.at(-1)?.end(1);
  await vi.advanceTimersByTimeAsync(0);
  await pausing.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(subjects).toHaveLength(2);
  expect([running.state, pausing.state]).toEqual(['stopped', 'stopped']);
});

test('a start that is under way when it is stopped is undone', async () => {
  withTimers();
  const first = new Subject(1);
  const late = new Subject(2);
  let finish!: (subject: Subject) => void;
  const starts = [Promise.resolve(first), new Promise<Subject>((resolve) => (finish = resolve))];
  const kept = await KeepAlive.start({
    start: () => starts.shift() ?? Promise.reject(new Error('no more')),
    onDeath: () => undefined,
    onRestart: () => undefined,
  });
  first.end(1);
  await vi.advanceTimersByTimeAsync(500);
  const stopping = kept.stop();
  finish(late);
  await stopping;
  expect(late.stopped).toBe(true);
  expect(kept.state).toBe('stopped');
});
