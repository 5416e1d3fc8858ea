import { maxCells } from '../limits.ts';
import { tooLarge } from '../../../library/text/unparsable-document.ts';
import type { Archive } from '../../../library/office-files/archive.ts';
import { formatNumber } from '../../../library/workbooks/number-formats.ts';
import { readXml } from '../../../library/office-files/read-xml.ts';

/** `rows`: the names of the series, then each category with its values. */
export interface Chart {
  title: string;
  rows: string[][];
}

type Role = 'name' | 'category' | 'value';

interface Series {
  name: string;
  categories: Map<number, string>;
  values: Map<number, string>;
}

const roles: Record<string, Role> = { tx: 'name', cat: 'category', xVal: 'category', val: 'value', yVal: 'value' };
/** Every series has a column. */
const maxSeries = 1000;

/** The data that a chart shows, as it is stored with the chart (ECMA-376, part 1, 21.2). */
export async function readChart(archive: Archive, part: string): Promise<Chart> {
  const all: Series[] = [];
  let title = '';
  let titles = 0;
  let series: Series | undefined;
  let role: Role | undefined;
  let pattern = 'General';
  let isNumber = false;
  let index = 0;
  let text = '';
  await readXml(archive.pieces(part), {
    open(name, attributes) {
      text = '';
      if (name === 'title') titles += 1;
      else if (name === 'ser') {
        series = { name: '', categories: new Map(), values: new Map() };
        if (all.push(series) > maxSeries) throw tooLarge(`it holds a chart of more than ${maxSeries} series`);
      } else if (series && roles[name]) role = roles[name];
      else if (name === 'numCache' || name === 'numLit') [isNumber, pattern] = [true, 'General'];
      else if (name === 'pt') index = Number(attributes['idx'] ?? 0) || 0;
    },
    text(piece) {
      text += piece;
    },
    close(name) {
      if (name === 'title') titles -= 1;
      else if (name === 't' && titles > 0) title += `${title === '' || title.endsWith(' ') ? '' : ' '}${text}`;
      else if (name === 'formatCode') pattern = text;
      else if (name === 'numCache' || name === 'numLit') isNumber = false;
      else if (name === 'v' && series && role) {
        const shown = isNumber && text.trim() !== '' ? formatNumber(Number(text), pattern) : text;
        if (role === 'name') series.name = shown;
        else addPoint(role === 'category' ? series.categories : series.values, index, shown, role);
      } else if (roles[name] !== undefined && roles[name] === role) role = undefined;
      else if (name === 'ser') series = undefined;
      text = '';
    },
  });
  return { title: title.trim(), rows: toRows(all) };
}

/** A category of several levels has a text on each: the innermost comes first. */
function addPoint(points: Map<number, string>, index: number, text: string, role: Role): void {
  const known = points.get(index);
  points.set(index, known === undefined || role === 'value' ? text : `${text} ${known}`);
}

/** Series that share their categories share rows. */
function toRows(all: Series[]): string[][] {
  const rows = new Map<string, string[]>();
  for (const [column, { categories, values }] of all.entries())
    for (const index of [...new Set([...categories.keys(), ...values.keys()])].toSorted((one, other) => one - other)) {
      const category = categories.get(index) ?? (all[0]?.categories.get(index) || String(index + 1));
      const key = `${index} ${category}`;
      const row = rows.get(key) ?? [category];
      while (row.length < column + 1) row.push('');
      row[column + 1] = values.get(index) ?? '';
      rows.set(key, row);
      if (rows.size * all.length > maxCells) throw tooLarge('it holds a chart of too many values');
    }
  if (rows.size === 0) return [];
  const names = all.map(({ name }) => name);
  return [...(names.some((name) => name !== '') ? [['', ...names]] : []), ...rows.values()];
}
