/** A share of a number of runs, with the interval in which the true share lies. */
export interface Share {
  rate: number;
  low: number;
  high: number;
}

/** The 97.5th percentile of the normal distribution: an interval of 95 %. */
const z = 1.959964;

/**
 * The share of `part` in `total` with its 95 % confidence interval by Wilson's score. Null without a total.
 * Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927.
 */
export function toShare(part: number, total: number): Share | null {
  if (total <= 0) return null;
  const rate = part / total;
  const scale = 1 + z ** 2 / total;
  const centre = rate + z ** 2 / (2 * total);
  const spread = z * Math.sqrt((rate * (1 - rate)) / total + z ** 2 / (4 * total ** 2));
  return {
    rate: toDigits(rate),
    low: toDigits(part === 0 ? 0 : (centre - spread) / scale),
    high: toDigits(part === total ? 1 : (centre + spread) / scale),
  };
}

const toDigits = (value: number): number => Math.round(value * 10_000) / 10_000;
