const maxTextLength = 200;
// In UTF-8 at most three times as many bytes, which a D1 value holds.
const maxLength = 600_000;

/**
 * A JSON answer cut down to what says that it was done: states, counts and ids. Records in arrays keep their id (those
 * without one stay whole), long texts and nested objects go. `shortened: true` says so.
 */
export function shortenBody(body: string): string {
  const text = JSON.stringify({ ...asRecord(JSON.parse(body)), shortened: true });
  return text.length > maxLength ? JSON.stringify({ shortened: true }) : text;
}

function asRecord(answer: unknown): Record<string, unknown> {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return { items: shortenValue(answer) };
  return Object.fromEntries(
    Object.entries(answer)
      .map(([name, value]) => [name, shortenValue(value)])
      .filter(([, value]) => value !== undefined),
  );
}

function shortenValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toIdOnly);
  if (typeof value === 'string') return value.length > maxTextLength ? undefined : value;
  return typeof value === 'object' && value !== null ? undefined : value;
}

const toIdOnly = (item: unknown) => (typeof item === 'object' && item !== null && 'id' in item ? { id: item.id } : item);
