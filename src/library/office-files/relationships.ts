import type { Archive } from './archive.ts';
import { readXml } from './read-xml.ts';

export interface Relationship {
  id: string;
  /** The last part of its type: `slide`, `notesSlide`, `worksheet`. */
  type: string;
  /** The name of the target part in the archive. */
  target: string;
}

/** The relationships of a part of an office document (ECMA-376, part 2, 9.3). */
export async function readRelationships(archive: Archive, part: string): Promise<Relationship[]> {
  const folder = part.slice(0, part.lastIndexOf('/') + 1);
  const found: Relationship[] = [];
  await readXml(archive.pieces(`${folder}_rels/${part.slice(folder.length)}.rels`), {
    open(name, attributes) {
      const { Id: id, Type: type = '', Target: target, TargetMode: mode } = attributes;
      if (name !== 'Relationship' || id === undefined || target === undefined || mode === 'External') return;
      found.push({ id, type: type.slice(type.lastIndexOf('/') + 1), target: new URL(target, `file:///${folder}`).pathname.slice(1) });
    },
  });
  return found;
}

const embeddedTypes = new Set(['aFChunk', 'subDocument', 'oleObject', 'package', 'chartEx']);

/** How many files, included documents and charts of newer kinds a part embeds, whose contents are not read. */
export const countEmbedded = (relationships: Relationship[]): number => relationships.filter(({ type }) => embeddedTypes.has(type)).length;

/** The document's own title, from its core properties. */
export async function readTitle(archive: Archive): Promise<string> {
  let title = '';
  let isInTitle = false;
  await readXml(archive.pieces('docProps/core.xml'), {
    open: (name) => (isInTitle = name === 'title'),
    text: (text) => (title += isInTitle ? text : ''),
    close: () => (isInTitle = false),
  });
  return isPlaceholderTitle(title) ? '' : title;
}

/** The titles that programs write by default. */
export const isPlaceholderTitle = (title: string): boolean =>
  /^(?:microsoft (?:word|powerpoint|excel) - |untitled|powerpoint presentation$|presentation$|document\d*$|slide 1$|.*\.(?:docx?|pptx?|xlsx?|pdf|indd|qxd)$)/i.test(
    title.trim(),
  );
