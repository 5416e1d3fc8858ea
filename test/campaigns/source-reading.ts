import { openCsv } from '../../src/campaigns/source/file-source.ts';
import type { SourceOptions } from '../../src/campaigns/source/options.ts';
import type { SourceRow } from '../../src/campaigns/source/read-rows.ts';

export const bytesOfText = (text: string): Uint8Array => new TextEncoder().encode(text);

export async function* inChunks(bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** Opens a file as a source. `file` is its text, or its bytes. */
export async function sourceOf(file: string | Uint8Array, options: SourceOptions = {}, country = 'US', batchRows = 500) {
  const bytes = typeof file === 'string' ? bytesOfText(file) : file;
  const source = await openCsv(inChunks(bytes), options, country);
  const read: SourceRow[] = [];
  for await (const batch of source.batches(undefined, batchRows)) read.push(...batch);
  const { headers, phones, variables, phone_variable } = source.columns;
  const ofPhone = read.some((row) => phone_variable in row.variables) ? [phone_variable] : [];
  const rows = read.map(({ phone_column: _column, ...row }) => row);
  const taken = read.map(({ phone_column: column }) => (column === undefined ? null : headers[column]));
  return { taken, phone_column: headers[phones[0]], variable_names: [...variables.map(({ name }) => name), ...ofPhone], rows };
}

/** The parts of a row that most tests compare: number, state, the code of the reason. */
export const briefly = (rows: SourceRow[]) => rows.map(({ phone, state, reason }) => [phone, state, reason?.split(':')[0] ?? null]);
