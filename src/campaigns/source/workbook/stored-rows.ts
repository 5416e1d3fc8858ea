import type { FileRecord } from '../../../library/delimited-text/parse-records.ts';

/** The first line of a stored sheet. `sheets`: the names of all visible sheets of its workbook. */
interface StoredSheetHead {
  sheet: string;
  sheets: string[];
}

/**
 * A sheet as it is stored: lines of JSON, the first with its head, each other one with a row: its number in the workbook, then its cells. A row
 * with a problem is the whole record. A CSV would have to be guessed at again.
 */
export async function* writeStoredSheet(head: StoredSheetHead, batches: AsyncIterable<FileRecord[]>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(toLine(head));
  for await (const records of batches) yield encoder.encode(records.map(toRowLine).join(''));
}

const toRowLine = (record: FileRecord): string => toLine(record.problem === undefined ? [record.file_row, ...record.cells] : record);
const toLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Reads what `writeStoredSheet` wrote, a small part at a time. */
export async function readStoredSheet(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ head: StoredSheetHead; records: AsyncGenerator<FileRecord, undefined, undefined> }> {
  const lines = readLines(bytes);
  const first = await lines.next();
  if (first.done) throw new Error('A stored sheet is empty');
  const [head = '', ...others] = first.value;
  return { head: JSON.parse(head) as StoredSheetHead, records: readRecords(others, lines) };
}

async function* readRecords(
  first: string[],
  rest: AsyncGenerator<string[], undefined, undefined>,
): AsyncGenerator<FileRecord, undefined, undefined> {
  try {
    for (const line of first) yield toRecord(line);
    for await (const lines of rest) for (const line of lines) yield toRecord(line);
  } finally {
    await rest.return(undefined);
  }
}

function toRecord(line: string): FileRecord {
  const stored = JSON.parse(line) as [number, ...string[]] | FileRecord;
  if (!Array.isArray(stored)) return stored;
  const [file_row, ...cells] = stored;
  return { file_row, cells };
}

/** The lines that end in each chunk. A line that is cut by chunks is joined once. */
async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[], undefined, undefined> {
  const decoder = new TextDecoder();
  let held: string[] = [];
  for await (const chunk of bytes) {
    const [end = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n');
    held.push(end);
    const begun = lines.pop();
    if (begun === undefined) continue;
    yield [held.join(''), ...lines];
    held = [begun];
  }
}
