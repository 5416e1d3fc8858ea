import { percentile } from '../statistics.ts';

/** One sum or measure of a sustained load, in words with its figures. */
export interface Finding {
  isRight: boolean;
  what: string;
}

/** Something measured at a moment: ms since the load began, and ms or MB. */
export interface Measured {
  at: number;
  value: number;
}

/** A latency or size may differ by so much between the beginning and the end without being called a growth: other programs use the machine, too. */
const allowedGrowth = 2;
const allowedMs = 50;
const allowedMemoryGrowth = 1.25;

export const sumFinding = (what: string, wanted: number, found: number): Finding => ({
  isRight: wanted === found,
  what: `${what}: ${found} of ${wanted}`,
});

/** Compares the times of the second tenth with those of the last one. The first tenth warms up. */
export function latencyFinding(what: string, times: Measured[], lengthMs: number): Finding {
  const [first, last] = [part(times, lengthMs, 0.1, 0.3), part(times, lengthMs, 0.8, 1)].map((values) => percentile(values, 0.95)) as [
    number,
    number,
  ];
  const isRight = last <= first * allowedGrowth + allowedMs;
  return { isRight, what: `${what}: p95 ${first.toFixed(0)} ms at first, ${last.toFixed(0)} ms at last` };
}

/** Compares the memory of the middle with that of the end, by the medians. */
export function memoryFinding(sizes: Measured[], lengthMs: number): Finding {
  const [middle, last] = [part(sizes, lengthMs, 0.4, 0.6), part(sizes, lengthMs, 0.8, 1)].map((values) => percentile(values, 0.5)) as [
    number,
    number,
  ];
  return {
    isRight: last <= middle * allowedMemoryGrowth,
    what: `memory of workerd: ${middle.toFixed(0)} MB in the middle, ${last.toFixed(0)} MB at last`,
  };
}

const part = (measured: Measured[], lengthMs: number, from: number, to: number): number[] =>
  measured.filter(({ at }) => at >= from * lengthMs && at <= to * lengthMs).map(({ value }) => value);
