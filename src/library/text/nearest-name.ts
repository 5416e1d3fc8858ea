const maxLength = 64;

/**
 * The name that `written` was probably meant to be, or null. Case, `_`, `-` and blanks make no difference: `maxRetries` is `max_retries`. A
 * name that contains the other one, as `phone_column` contains `column`, is nearer.
 * @example nearestName('max_retry', ['enabled', 'max_retries']) // 'max_retries'
 */
export function nearestName(written: string, names: readonly string[]): string | null {
  const plain = normalizeName(written);
  if (plain === '' || plain.length > maxLength) return null;
  let nearest: { name: string; distance: number } | null = null;
  for (const name of names) {
    const other = normalizeName(name);
    const isPart = plain.length >= 4 && other.length >= 4 && (other.includes(plain) || plain.includes(other));
    const distance = editDistance(plain, other) * (isPart ? 0.5 : 1);
    if (distance > Math.max(plain.length, other.length) * 0.4) continue;
    if (nearest === null || distance < nearest.distance) nearest = { name, distance };
  }
  return nearest?.name ?? null;
}

const normalizeName = (name: string): string => name.toLowerCase().replace(/[_\-\s]/g, '');

/** Levenshtein's: how many letters must be added, left out or changed. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)));
    row = next;
  }
  return row.at(-1)!;
}
