/** The types of a D1 parameter. */
export type Value = string | number | boolean | null;
export type Row = Record<string, unknown>;

/** One call to D1 as the service made it: a batch, or a statement alone. */
export interface RecordedCall {
  by: 'request' | 'queue' | 'object' | 'tick';
  isBatch: boolean;
  statements: { sql: string; parameters: Value[] }[];
  rowsRead: number;
  rowsWritten: number;
}

/**
 * Where the value of a parameter comes from when a call is replayed. In `text` and `each`, literal parts and names alternate, beginning with a
 * literal; `each` is the template of one element of a JSON list, filled for each record.
 */
export type Slot = { constant: Value } | { value: string } | { text: string[] } | { each: string[] };

/** A call that can be made again with other values. */
export interface CallRecipe {
  isBatch: boolean;
  statements: { sql: string; parameters: Slot[] }[];
  /** Values that later calls need, and the columns of its first row that have them. */
  learns?: Record<string, string>;
}

/** A key that the service made for one request or one write: another request has another one. */
const ownKey = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const isOwnKey = (text: string) => new RegExp(`^${ownKey}$`).test(text);

/** Values that are unique in the recorded statements: wherever a parameter contains one, the replay fills in another value. */
export interface Markers {
  values: Record<string, string | number>;
  /** The moments between which the call was made: a number among them is the time. */
  from: number;
  to: number;
}

export const toRecipe = (call: RecordedCall, markers: Markers): CallRecipe => ({
  isBatch: call.isBatch,
  statements: call.statements.map(({ sql, parameters }) => ({
    sql,
    parameters: parameters.map((parameter) => toSlot(parameter, markers)),
  })),
});

/** The recipe of a call that is made again exactly as it was. */
export const toVerbatimRecipe = (call: RecordedCall): CallRecipe => toRecipe(call, { values: {}, from: 1, to: 0 });

function toSlot(parameter: Value, { values, from, to }: Markers): Slot {
  const isTime = (number: number) => number >= from && number <= to;
  if (typeof parameter === 'number' && isTime(parameter)) return { value: 'now' };
  for (const [name, marker] of Object.entries(values)) if (parameter === marker) return { value: name };
  if (typeof parameter !== 'string') return { constant: parameter };
  const element = onlyElement(parameter);
  const parts = splitParts(element ?? parameter, values, isTime);
  if (parts.length === 1) return { constant: parameter };
  return element === null ? { text: parts } : { each: parts };
}

/** The JSON of the only element of a JSON list; null unless the text is such a list. */
function onlyElement(text: string): string | null {
  if (!text.startsWith('[')) return null;
  try {
    const list = JSON.parse(text) as unknown[];
    return list.length === 1 ? text.slice(1, -1) : null;
  } catch {
    return null;
  }
}

function splitParts(text: string, values: Record<string, string | number>, isTime: (number: number) => boolean): string[] {
  const names = new Map(Object.entries(values).map(([name, marker]) => [String(marker), name]));
  const alternatives = [...names.keys()].map((marker) => marker.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const parts = [''];
  for (const piece of text.split(new RegExp(`(${[...alternatives, String.raw`(?<!\d)\d{13}(?!\d)`, ownKey].join('|')})`))) {
    const isMoment = /^\d{13}$/.test(piece) && isTime(Number(piece));
    const name = names.get(piece) ?? (isMoment ? 'now' : isOwnKey(piece) ? piece : undefined);
    if (name === undefined) parts.push(parts.pop()! + piece);
    else parts.push(name, '');
  }
  return parts;
}

export type Values = Record<string, Value>;

/**
 * The parameters of a statement for these values; `records` are those of the lists. A key that the service made is made anew, and noted in the
 * values, so that what uses it later has it.
 */
export function toParameters(slots: Slot[], values: Values, records: Values[]): Value[] {
  return slots.map((slot) => {
    if ('constant' in slot) return slot.constant;
    if ('value' in slot) return resolveValue(slot.value, values);
    if ('text' in slot) return filled(slot.text, values);
    return `[${records.map((record) => filled(slot.each, record, values)).join(',')}]`;
  });
}

const filled = (parts: string[], values: Values, more?: Values) =>
  parts.map((part, index) => (index % 2 ? resolveValue(part, values, more) : part)).join('');

function resolveValue(name: string, values: Values, more: Values = {}): Value {
  if (isOwnKey(name)) values[name] ??= crypto.randomUUID();
  const value = values[name] ?? more[name];
  if (value === undefined) throw new Error(`The recorded statement needs "${name}", which the floor does not have`);
  return value;
}
