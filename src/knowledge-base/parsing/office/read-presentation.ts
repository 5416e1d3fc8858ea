import type { BlockWriter } from '../block-writer.ts';
import type { ReadResult } from '../document-reader.ts';
import { damaged } from '../../../library/text/unparsable-document.ts';
import { openArchive } from '../../../library/office-files/archive.ts';
import type { Archive } from '../../../library/office-files/archive.ts';
import { countComments } from './count-comments.ts';
import { readChart } from './read-chart.ts';
import { MasterTexts } from './master-texts.ts';
import { readSlide } from './read-slide.ts';
import type { SlidePart } from './read-slide.ts';
import { readXml } from '../../../library/office-files/read-xml.ts';
import { countEmbedded, readRelationships, readTitle } from '../../../library/office-files/relationships.ts';

/** Reads the slides in order, each below its title, with charts, diagrams and speaker notes, and at the end each footer and text of a master once. What is hidden is left out. */
export async function readPresentation(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  const archive = openArchive(bytes);
  const main = (await readRelationships(archive, '')).find(({ type }) => type === 'officeDocument')?.target ?? 'ppt/presentation.xml';
  if (!archive.has(main)) throw damaged('it has no main part');
  const slides = await findSlides(archive, main);
  const footers = new Set<string>();
  const masters = new MasterTexts(archive, writer);
  const withoutText: number[] = [];
  for (const [index, slide] of slides.entries()) {
    const before = writer.blocks.length;
    writer.page = index + 1;
    const { isLeftOut } = await writeSlide(archive, slide, { footers, masters }, writer);
    writer.endTable();
    if (writer.blocks.length === before && !isLeftOut) withoutText.push(index + 1);
  }
  if (writer.blocks.length > 0) for (const footer of footers) writer.paragraph(footer);
  return { title: await readTitle(archive), pages: slides.length, pages_without_text: withoutText };
}

async function findSlides(archive: Archive, main: string): Promise<string[]> {
  const targets = new Map((await readRelationships(archive, main)).map(({ id, target }) => [id, target]));
  const slides: string[] = [];
  await readXml(archive.pieces(main), {
    open(name, attributes) {
      const target = name === 'sldId' ? targets.get(attributes['r:id'] ?? '') : undefined;
      if (target !== undefined) slides.push(target);
    },
  });
  return slides;
}

/** `footers`: the lines that stand on several slides. */
interface Repeated {
  footers: Set<string>;
  masters: MasterTexts;
}

/** `isLeftOut`: the slide, or all of its text, is hidden, which is its warning: it is no scan. */
interface WrittenSlide {
  isLeftOut: boolean;
}

async function writeSlide(archive: Archive, slide: string, { footers, masters }: Repeated, writer: BlockWriter): Promise<WrittenSlide> {
  const { parts: shown, isHidden, hiddenTexts, describedImages } = await readSlide(archive.pieces(slide), writer.warnings);
  writer.warnings.add('hidden_left_out', { count: isHidden ? 1 : hiddenTexts });
  if (isHidden) return { isLeftOut: true };
  const others = await readRelationships(archive, slide);
  for (const { id, target } of others) if (describedImages.has(id)) writer.describedImages.add(target);
  writer.warnings.add('embedded_left_out', { count: countEmbedded(others) });
  writer.warnings.add('comments_left_out', { count: await countComments(archive, others) });
  const parts: SlidePart[] = [];
  const charts = new Set<string>();
  for (const part of shown) {
    if (!('chart' in part)) parts.push(part);
    else if (!charts.has(part.chart))
      for (const one of await readChartParts(archive, others.find(({ id }) => id === part.chart)?.target)) parts.push(one);
    if ('chart' in part) charts.add(part.chart);
  }
  for (const { type, target } of others)
    if (type === 'diagramData')
      for (const part of (await readSlide(archive.pieces(target), writer.warnings)).parts) parts.push(toListItem(part));
  for (const { type, target } of others)
    if (type === 'notesSlide')
      for (const part of (await readSlide(archive.pieces(target), writer.warnings)).parts) parts.push(toNote(part));

  for (const part of parts) if ('footer' in part && part.footer !== '') footers.add(part.footer);
  for (const text of await masters.findNew(others)) footers.add(text);
  const title = parts
    .filter(isTitle)
    .map(({ paragraph }) => paragraph.text)
    .join(' ')
    .trim();
  if (parts.every((part) => 'footer' in part || ('paragraph' in part && part.paragraph.text.trim() === '')))
    return { isLeftOut: hiddenTexts > 0 };
  // Without a heading, a slide would be read as a part of the slide before.
  writer.heading(1, title || `Slide ${writer.page}`);
  for (const part of parts) if (!isTitle(part)) writePart(part, writer);
  return { isLeftOut: false };
}

function writePart(part: SlidePart, writer: BlockWriter): void {
  if ('row' in part) writer.row(part.row);
  else if ('tableEnd' in part) writer.endTable();
  else if (!('paragraph' in part)) return;
  else if (part.paragraph.isListed) writer.listItem(part.paragraph.text);
  else writer.paragraph(part.paragraph.text);
}

async function readChartParts(archive: Archive, part: string | undefined): Promise<SlidePart[]> {
  if (part === undefined) return [];
  const { title, rows } = await readChart(archive, part);
  const heading: SlidePart[] = title === '' ? [] : [{ paragraph: { text: title, kind: 'chart', isListed: false } }];
  return [...heading, ...rows.map((row) => ({ row })), { tableEnd: true }];
}

const isTitle = (part: SlidePart): part is Extract<SlidePart, { paragraph: unknown }> =>
  'paragraph' in part && (part.paragraph.kind === 'title' || part.paragraph.kind === 'ctrTitle');

const toListItem = (part: SlidePart): SlidePart => ('paragraph' in part ? { paragraph: { ...part.paragraph, isListed: true } } : part);
const toNote = (part: SlidePart): SlidePart =>
  'paragraph' in part ? { paragraph: { ...part.paragraph, kind: 'notes', isListed: false } } : part;
