/** The value below which a share `q` (0 to 1) of the samples lies. */
export function percentile(samples, q) {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
}

/** Milliseconds that one call takes. */
export async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** One row of a result: p50 and p99 in ms, and the number of samples. */
export function summary(samples) {
  return { p50: round(percentile(samples, 0.5)), p99: round(percentile(samples, 0.99)), samples: samples.length };
}

/** Ours over the peer's, at p50 and p99. */
export function ratio(ours, peer) {
  return { p50: round(ours.p50 / peer.p50), p99: round(ours.p99 / peer.p99) };
}

function round(value) {
  return Number(value.toPrecision(3));
}
