/** Keys that follow each other within this belong together. */
export const keyGapMs = 1_500;
const maxKeys = 32;

/**
 * What a key makes of those pressed before it. A number ends with `#`, which is no part of it, or when nothing was pressed for `keyGapMs`;
 * a `#` alone is a key like others. `finished`: what the other side has told with them.
 */
export function addPressedKey(before: string, key: string): { pending: string } | { finished: string } {
  if (key === '#') return { finished: before === '' ? '#' : before };
  const keys = before + key;
  return keys.length < maxKeys ? { pending: keys } : { finished: keys };
}

/** As the agent is told of it, alone or before what was said. */
export const formatPressedKeys = (keys: string, said = ''): string =>
  [...(keys === '' ? [] : [`pressed ${keys}`]), ...(said.trim() === '' ? [] : [said])].join('. ');
