/**
 * What the value of a Range header asks for of `size` bytes (RFC 9110 section 14). Null: nothing that is understood, such as several ranges,
 * so that all of it is sent.
 */
export function byteRange(header: string, size: number): { offset: number; length: number } | 'unsatisfiable' | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim());
  if (!match || (match[1] === '' && match[2] === '')) return null;
  const [first, last] = [match[1]!, match[2]!];
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { offset: size - length, length };
  }
  const offset = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < offset) return null;
  return offset >= size ? 'unsatisfiable' : { offset, length: end - offset + 1 };
}
