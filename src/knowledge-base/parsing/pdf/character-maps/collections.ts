/** Adobe's collections of characters: traditional and simplified Chinese, Japanese, Korean. */
export const collections = ['cns1', 'gb1', 'japan1', 'korea1'] as const;
export type Collection = (typeof collections)[number];

/** The collection of a predefined character map, by its name. */
export function collectionOf(name: string): Collection {
  if (/CNS|^(?:B5|ET|HK)/.test(name)) return 'cns1';
  if (/GB/.test(name)) return 'gb1';
  return /^KSC|^UniKS|Korea/.test(name) ? 'korea1' : 'japan1';
}
