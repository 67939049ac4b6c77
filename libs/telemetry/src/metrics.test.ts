import { expect, test } from 'vitest';
import { counter, registerGauge, renderMetrics, secondsHistogram } from './metrics.js';

test('counters, histograms and gauges are exposed in the text format', async () => {
  counter('test_things', 'Things seen').add(3, { kind: 'a' });
  secondsHistogram('test_time', 'Time taken').record(0.004);
  let idle = 2;
  registerGauge('test_threads', 'Threads', () => [{ value: idle, attributes: { state: 'idle' } }]);
  const text = await renderMetrics();
  expect(text).toContain('# HELP cellar_test_things_total Things seen\n# TYPE cellar_test_things_total counter\n');
  expect(text).toContain('cellar_test_things_total{kind="a"} 3\n');
  expect(text).toContain('cellar_test_time_seconds_bucket{le="0.0025"} 0\n');
  expect(text).toContain('cellar_test_time_seconds_bucket{le="0.005"} 1\n');
  expect(text).toContain('cellar_test_time_seconds_count 1\n');
  expect(text).toContain('cellar_test_threads{state="idle"} 2\n');
  idle = 0;
  expect(await renderMetrics()).toContain('cellar_test_threads{state="idle"} 0\n');
});

test('a gauge that cannot be read does not take the others with it', async () => {
  registerGauge('test_broken', 'Broken', () => {
    throw new Error('away');
  });
  registerGauge('test_sound', 'Sound', () => [{ value: 7 }]);
  const text = await renderMetrics();
  expect(text).toContain('cellar_test_sound 7');
  expect(text).not.toContain('cellar_test_broken 7');
});
