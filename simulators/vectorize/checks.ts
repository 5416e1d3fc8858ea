import type { VectorizeFilter, VectorizeItem, VectorizeOptions } from './binding.ts';

// Codes and words are those of Vectorize, as users report them. Undocumented rules are as strict as the strictest report.
const dimensions = 1536;
const bytes = (text: string) => new TextEncoder().encode(text).length;

type Operation = 'INSERT' | 'UPSERT' | 'DELETE' | 'GET' | 'QUERY';

function refuseIf(isRefused: boolean, operation: Operation, code: number, why: string): void {
  if (isRefused) throw new Error(`VECTOR_${operation}_ERROR (code = ${code}): ${why}`);
}

export function checkItems(operation: 'INSERT' | 'UPSERT', items: VectorizeItem[]): void {
  const refuse = (isRefused: boolean, code: number, why: string) => refuseIf(isRefused, operation, code, why);
  refuse(items.length < 1 || items.length > 1000, 40007, `too many vectors in payload; max vector count is 1000, got ${items.length}`);
  refuse(new Set(items.map(({ id }) => id)).size < items.length, 40011, 'duplicate ids in payload');
  for (const { id, values, namespace, metadata } of items) {
    refuse(typeof id !== 'string' || bytes(id) < 1 || bytes(id) > 64, 40008, `id too long; max is 64 bytes, got ${id}`);
    refuse(
      values.length !== dimensions,
      40012,
      `invalid vector for id="${id}", expected ${dimensions} dimensions, and got ${values.length} dimensions`,
    );
    refuse(!values.every(Number.isFinite), 40012, `invalid vector for id="${id}", values must be finite`);
    refuse(namespace !== undefined && (bytes(namespace) < 1 || bytes(namespace) > 64), 40009, 'namespace too long; max is 64 bytes');
    refuse(bytes(JSON.stringify(metadata ?? {})) > 10_240, 40023, `metadata too large for id="${id}"; max is 10240 bytes`);
    for (const key of Object.keys(metadata ?? {}))
      refuse(key === '' || /[."]/.test(key) || key.startsWith('$'), 40018, `invalid metadata key "${key}"`);
  }
}

export function checkIds(operation: 'GET' | 'DELETE', ids: string[]): void {
  const most = operation === 'GET' ? 20 : 100;
  refuseIf(ids.length < 1, operation, 40007, 'no ids in payload');
  refuseIf(ids.length > most, operation, 40007, `too many ids in payload; max id count is ${most}, got ${ids.length}`);
}

const refuse = (isRefused: boolean, code: number, why: string) => refuseIf(isRefused, 'QUERY', code, why);

export function checkQuery(vector: ArrayLike<number>, options: VectorizeOptions): void {
  const { topK = 5, returnValues = false, returnMetadata = 'none', filter } = options;
  refuse(
    vector.length !== dimensions,
    40006,
    `invalid query vector, expected ${dimensions} dimensions, and got ${vector.length} dimensions`,
  );
  refuse(
    !['none', 'indexed', 'all'].includes(returnMetadata),
    40026,
    'Failed to parse the request body as JSON: returnMetadata: expected value',
  );
  // Documented as 20, answered as 50.
  const most = returnValues || returnMetadata === 'all' ? 20 : 100;
  refuse(!Number.isInteger(topK) || topK < 1, 40025, `top K must be at least 1, but got ${topK}`);
  refuse(
    topK > most,
    40025,
    most === 100
      ? `max top K is 100, but got ${topK}`
      : `with returnValues=true or returnMetadata=all, max top K is ${most}, but got ${topK}`,
  );
  if (filter !== undefined) checkFilter(filter);
}

const operators = new Set(['$eq', '$ne', '$in', '$nin', '$lt', '$lte', '$gt', '$gte']);

function checkFilter(filter: VectorizeFilter): void {
  refuse(bytes(JSON.stringify(filter)) >= 2048, 40024, 'filter too large; it must be less than 2048 bytes');
  refuse(Object.keys(filter).length === 0, 40024, 'filter must not be empty');
  for (const [key, condition] of Object.entries(filter)) {
    refuse(key === '' || key.includes('"') || key.startsWith('$'), 40024, `invalid filter key "${key}"`);
    if (typeof condition !== 'object' || condition === null) continue;
    for (const [operator, operand] of Object.entries(condition)) {
      refuse(!operators.has(operator), 40024, `invalid filter operator "${operator}"`);
      const isList = operator === '$in' || operator === '$nin';
      refuse(
        isList !== Array.isArray(operand) || (Array.isArray(operand) && operand.length === 0),
        40024,
        `invalid operand of "${operator}"`,
      );
    }
  }
}
