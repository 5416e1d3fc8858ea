import { table, text, type CorpusFile, type Part } from '../source.ts';
import { toDelimited } from '../write/write-text.ts';

const bytesOf = (content: string) => () => new TextEncoder().encode(content);
const file = (name: string, content: string, source: Part[], more: Partial<CorpusFile> = {}): CorpusFile => ({
  name,
  bytes: bytesOf(content),
  source,
  ...more,
});
const whole = (name: string, rows: string[][], ...how: [delimiter?: string, end?: string]): CorpusFile =>
  file(name, toDelimited(rows, ...how), [table(...rows)]);

const prices = [
  ['Item', 'Size', 'Price', 'Note'],
  ['Kettle', '', '49.90', 'black, or white'],
  ['', '', '12.00', ''],
  ['Pot "Ada"', '2 l', '', 'two\nlines'],
];
const wide = [
  Array.from({ length: 60 }, (_, column) => `Column ${column + 1}`),
  ['first', ...Array.from({ length: 56 }, () => ''), 'far', '', 'last'],
  ['second', ...Array.from({ length: 59 }, (_, column) => String(column * 7))],
];
const numbers = [
  ['Phone', 'Id', 'Code', 'Share'],
  ['+49 176 1234567', '12345678901234567890', '007', '12.50%'],
  ['0612345678', '9007199254740993', '1e5', '-0.00001'],
  ['(020) 7946 0018', '4006381333931', '1/2', '1,250.00'],
];

export const tableFiles: CorpusFile[] = [
  whole('empty-cells.csv', prices),
  whole('semicolons.csv', prices, ';'),
  whole('pipes.csv', prices, '|'),
  whole('tabs.tsv', prices, '\t'),
  whole('lines-of-windows.csv', prices, ',', '\r\n'),
  whole('lines-of-old-macs.csv', prices.slice(0, 3), ',', '\r'),
  whole('wide.csv', wide),
  whole('wide.tsv', wide, '\t'),
  whole('numbers.csv', numbers),
  whole('one-column.csv', [['Item'], ['Kettle'], ['Tea pot'], ['Cup 5']]),
  whole('only-names.csv', [['Item', 'Price']]),
  whole('long.csv', [['No', 'Name', 'Sum'], ...Array.from({ length: 3000 }, (_, row) => [String(row), `Item ${row}`, String(row * 1.5)])]),
  whole('repeated-names.csv', [
    ['Name', 'Phone', 'Phone', 'Name'],
    ['Ann', '1', '2', 'Bob'],
  ]),
  whole('unnamed-columns.csv', [
    ['Name', '', 'City', ''],
    ['Ann', 'x', 'Rome', 'y'],
    ['Bob', '', 'Bern', 'z'],
  ]),
  whole('wider-than-its-names.csv', [
    ['Item', 'Price'],
    ['Tea', '2.50', 'Mondays', 'and Fridays'],
    ['Cup', '3'],
  ]),
  file('titles.csv', 'Price list of Acme\nvalid from May\n\nItem,Price\nTea,2.50\n', [
    text('Price list of Acme'),
    text('valid from May'),
    table(['Item', 'Price'], ['Tea', '2.50']),
  ]),
  file('hint.csv', 'sep=;\r\nItem;Price\r\nTea;2,50\r\n', [table(['Item', 'Price'], ['Tea', '2,50'])]),
  file(
    'broken-quote.csv',
    'Item,Price,Note\n"Tea,2.50,x\nCup,3,y\n',
    [table(['Item', 'Price', 'Note'], ['"Tea', '2.50', 'x'], ['Cup', '3', 'y'])],
    {
      warned: ['rows_broken'],
    },
  ),
  file('control-z.csv', 'Item,Price\r\nTea,2\r\n\u001a', [table(['Item', 'Price'], ['Tea', '2'])]),
  {
    name: 'damaged-sign.csv',
    bytes: () =>
      Uint8Array.from(
        `Item,Price\nGr\u00c3\u00bc\u00c3\u00bc\u00c3\u00bc\u00c3\u00bc\u00c3\u00bc\u00c3\u00bc\u00c3\u00bc\u00c3\u00bc\u00c3\u00bc\u00c3\u00bc x\u00ff,2\n`,
        (sign) => sign.charCodeAt(0),
      ),
    source: [table(['Item', 'Price'], [`Gr${'ü'.repeat(10)} x\ufffd`, '2'])],
    warned: ['characters_damaged'],
  },
];
