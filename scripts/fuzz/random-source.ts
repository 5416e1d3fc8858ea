/** Draws from one stream of numbers: the same seed and name draw the same, whatever else is drawn beside. */
export interface RandomSource {
  /** From 0 to 1. */
  share(): number;
  chance(share: number): boolean;
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  of<Item>(items: readonly Item[]): Item;
}

/** Mulberry32. */
export function createRandomSource(seed: number, index: number): RandomSource {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(index + 1, 0xc2b2ae35)) | 0;
  const share = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(share() * end);
  return { share, chance: (least) => share() < least, below, of: (items) => items[below(items.length)]! };
}
