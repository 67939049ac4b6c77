import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Reaper } from './reaper.js';

const w = (beat: number) => [{ workerId: 'w', beat }];

describe('Reaper', () => {
  it('declares a worker lost after 10 s without a beat', () => {
    const reaper = new Reaper();
    for (let at = 0; at < 10_000; at += 1_000) expect(reaper.read(w(7), at)).toEqual([]);
    expect(reaper.read(w(7), 10_000)).toEqual(w(7));
  });

  it('starts anew when its own reads were over 2 s apart', () => {
    const reaper = new Reaper();
    for (let at = 0; at <= 9_000; at += 1_000) reaper.read(w(7), at);
    expect(reaper.read(w(7), 40_000)).toEqual([]);
    for (let at = 41_000; at < 50_000; at += 1_000) expect(reaper.read(w(7), at)).toEqual([]);
    expect(reaper.read(w(7), 50_000)).toEqual(w(7));
  });

  it('never declares a worker lost whose beat changed within the last 10 s, whatever the reads', () => {
    const reads = fc.array(fc.record({ after: fc.integer({ min: 1, max: 4_000 }), beats: fc.boolean() }));
    fc.assert(
      fc.property(reads, (steps) => {
        const reaper = new Reaper();
        let at = 0;
        let beat = 0;
        let changedAt = 0;
        reaper.read(w(beat), at);
        for (const step of steps) {
          at += step.after;
          if (step.beats) {
            beat += 1;
            changedAt = at;
          }
          if (reaper.read(w(beat), at).length > 0) expect(at - changedAt).toBeGreaterThanOrEqual(10_000);
        }
      }),
    );
  });
});
