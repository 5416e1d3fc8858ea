import type { BlockWriter } from '../block-writer.ts';
import type { ReadResult } from '../document-reader.ts';
import { damaged } from '../unparsable-document.ts';
import { openArchive } from './archive.ts';
import type { Archive } from './archive.ts';
import { readSlide } from './read-slide.ts';
import type { SlidePart } from './read-slide.ts';
import { readXml } from './read-xml.ts';
import { readRelationships, readTitle } from './relationships.ts';

/** Reads the slides in order, each below its title, with diagrams and speaker notes. Hidden slides are left out. */
export async function readPresentation(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  const archive = openArchive(bytes);
  const main = (await readRelationships(archive, '')).find(({ type }) => type === 'officeDocument')?.target ?? 'ppt/presentation.xml';
  if (!archive.has(main)) throw damaged('it has no main part');
  const slides = await findSlides(archive, main);
  let withoutText = 0;
  for (const [index, slide] of slides.entries()) {
    const before = writer.blocks.length;
    writer.page = index + 1;
    await writeSlide(archive, slide, writer);
    writer.endTable();
    if (writer.blocks.length === before) withoutText += 1;
  }
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

async function writeSlide(archive: Archive, slide: string, writer: BlockWriter): Promise<void> {
  const { parts, isHidden } = await readSlide(archive.pieces(slide));
  if (isHidden) return;
  const others = await readRelationships(archive, slide);
  for (const { type, target } of others)
    if (type === 'diagramData') for (const part of (await readSlide(archive.pieces(target))).parts) parts.push(toListItem(part));
  for (const { type, target } of others)
    if (type === 'notesSlide') for (const part of (await readSlide(archive.pieces(target))).parts) parts.push(toNote(part));

  const title = parts
    .filter(isTitle)
    .map(({ paragraph }) => paragraph.text)
    .join(' ')
    .trim();
  if (parts.every((part) => 'paragraph' in part && part.paragraph.text.trim() === '')) return;
  // Without a heading, a slide would be read as a part of the slide before.
  writer.heading(1, title || `Slide ${writer.page}`);
  for (const part of parts) if (!isTitle(part)) writePart(part, writer);
}

function writePart(part: SlidePart, writer: BlockWriter): void {
  if ('row' in part) writer.row(part.row);
  else if ('tableEnd' in part) writer.endTable();
  else if (part.paragraph.isListed) writer.listItem(part.paragraph.text);
  else writer.paragraph(part.paragraph.text);
}

const isTitle = (part: SlidePart): part is Extract<SlidePart, { paragraph: unknown }> =>
  'paragraph' in part && (part.paragraph.kind === 'title' || part.paragraph.kind === 'ctrTitle');

const toListItem = (part: SlidePart): SlidePart => ('paragraph' in part ? { paragraph: { ...part.paragraph, isListed: true } } : part);
const toNote = (part: SlidePart): SlidePart =>
  'paragraph' in part ? { paragraph: { ...part.paragraph, kind: 'notes', isListed: false } } : part;
