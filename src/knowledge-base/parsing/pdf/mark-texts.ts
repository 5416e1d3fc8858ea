import { ContentProperties } from './content-properties.ts';
import { parseReferences } from './drawing-names.ts';
import { streamOf, type AddedObject } from './file-update.ts';
import { markContent } from './mark-content.ts';
import type { PdfObject, PdfObjects } from './pdf-objects.ts';
import { findStructuredTexts } from './structured-texts.ts';
import { writeMark } from './text-marks.ts';

/** The maximum of unpacked bytes of all streams that are marked. Later ones stay as they are. */
const maxMarkedBytes = 16 << 20;

export interface MarkedTexts {
  /** The streams with their marks. */
  added: AddedObject[];
  /** What stands for what is drawn, by the index of the marks. */
  texts: string[];
  /** The index of these texts by the library's ids of marked content. */
  structured: Map<string, number>;
}

/** Marks the streams of drawing commands (`mark-content.ts`). `markable`: those that may need it. */
export async function markTexts(objects: PdfObjects, markable: Set<PdfObject>): Promise<MarkedTexts> {
  const properties = new ContentProperties(objects);
  const added = new Map<number, string>();
  let bytes = 0;
  for (const { number, stream, owner } of findStreams(objects)) {
    const layer = stream === owner ? /\/OC[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/.exec(owner.text)?.[1] : undefined;
    if (added.has(number) || bytes > maxMarkedBytes || (layer === undefined && !markable.has(stream))) continue;
    const content = await objects.unpack(stream);
    bytes += content.length;
    const marked = markContent(content, properties.of(owner));
    if (layer !== undefined)
      added.set(number, toForm(stream, `${writeMark({ kind: 'layer', number: Number(layer) })} ${marked ?? content} EMC`));
    else if (marked !== undefined) added.set(number, stream === owner ? toForm(stream, marked) : streamOf(marked));
  }
  return { added: [...added], texts: properties.texts, structured: findStructuredTexts(objects, properties) };
}

/** The streams of pages and forms, and whose names they use. */
function* findStreams(objects: PdfObjects): Generator<{ number: number; stream: PdfObject; owner: PdfObject }> {
  for (const [number, versions] of objects.entries()) {
    const owner = versions.at(-1);
    if (!owner) continue;
    if (owner.start !== undefined && /\/Subtype[\s\0]*\/Form\b/.test(owner.text)) yield { number, stream: owner, owner };
    for (const content of contentsOf(owner, objects)) {
      const stream = objects.get(content).at(-1);
      if (stream?.start !== undefined) yield { number: content, stream, owner };
    }
  }
}

function* contentsOf({ text }: PdfObject, objects: PdfObjects): Generator<number> {
  const list = /\/Contents[\s\0]*(\[[^[\]]*\]|\d+[\s\0]+\d+[\s\0]+R)/.exec(text)?.[1] ?? '';
  for (const number of parseReferences(list)) {
    const listed = objects.get(number).at(-1);
    if (listed?.start === undefined && listed && /^[\s\0]*\[/.test(listed.text)) yield* parseReferences(listed.text);
    else yield number;
  }
}

/** A form with another content, which is not packed. */
function toForm({ text }: PdfObject, content: string): string {
  const dictionary = text
    .replace(/\/(?:Filter|DecodeParms)[\s\0]*(?:\[[^\]]*\]|\/\w+|<<[^<>]*>>|\d+[\s\0]+\d+[\s\0]+R|null)/g, '')
    .replace(/\/Length[\s\0]+\d+(?:[\s\0]+\d+[\s\0]+R)?/, '')
    .trim()
    .replace(/^<</, '')
    .replace(/>>[\s\0]*(?:stream)?[\s\0]*$/, '');
  return streamOf(content, dictionary);
}
