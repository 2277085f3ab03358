import { performance } from 'node:perf_hooks';

/** Median of some durations in milliseconds. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Runs each of the works in turn, `rounds` times, so that a change of the machine's speed meets all alike; medians in milliseconds. */
export async function interleaved(works: ((round: number) => Promise<void>)[], rounds: number): Promise<number[]> {
  const times = works.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, work] of works.entries()) {
      const start = performance.now();
      await work(round);
      times[i]!.push(performance.now() - start);
    }
  }
  return times.map(median);
}

/** Turns a second with `width` at once, `total` in all. */
export async function throughput(work: (n: number) => Promise<void>, width: number, total: number): Promise<number> {
  let next = 0;
  const start = performance.now();
  const lane = async () => {
    while (next < total) await work((next += 1));
  };
  await Promise.all(Array.from({ length: width }, lane));
  return total / ((performance.now() - start) / 1000);
}
