import { heading, item, table, text, type CorpusFile, type Part } from '../source.ts';
import { PdfLayout, toPdf, writePages } from '../write/write-pdf.ts';

const file = (name: string, source: Part[], more: Partial<CorpusFile> = {}): CorpusFile => ({
  name: `${name}.pdf`,
  bytes: () => toPdf(source),
  source,
  ...more,
});
const sentence = (index: number) =>
  `Sentence ${index} says that the item ${index * 17} may go back within ${index + 30} days, if it was not opened.`;

function onPages(...pages: Part[][]): Uint8Array {
  const layout = new PdfLayout();
  for (const [index, parts] of pages.entries()) {
    if (index > 0) layout.startPage();
    for (const part of parts) layout.add(part);
  }
  return writePages(layout.pages);
}

const pages = [1, 2, 3].map((number) => [heading(1, `Chapter ${number}`), text(sentence(number))]);

export const pdfFiles: CorpusFile[] = [
  file('long-text', [heading(1, 'Terms'), ...Array.from({ length: 60 }, (_, index) => text(sentence(index)))]),
  file('lists', [
    heading(1, 'Steps'),
    text('These steps are to be done in their order, one after the other, by everyone who sends back an item.'),
    item('1.', 'Open the parcel 5'),
    item('2.', 'Take the item out'),
    item('', 'with care 7'),
    item('', 'by hand'),
    text('After that, the parcel goes to the post office within 45 days.'),
  ]),
  file('table-with-rules', [
    heading(1, 'Prices'),
    text('All prices are in euros and hold until the end of the year 2026.'),
    table(['Item', 'Size', 'Price'], ['Kettle', '', '49.90'], ['Pot', '2 l', '4006381333931'], ['Cup', '', '3']),
    text('Delivery costs 5 euros in the country and 15 euros elsewhere.'),
  ]),
  {
    name: 'pages.pdf',
    source: pages.flat(),
    bytes: () => onPages(...pages),
  },
];
