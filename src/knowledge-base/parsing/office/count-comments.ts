import type { Archive } from '../../../library/office-files/archive.ts';
import { readXml } from '../../../library/office-files/read-xml.ts';
import type { Relationship } from '../../../library/office-files/relationships.ts';

/** The kinds of parts that have comments; the same comments may stand in both kinds. */
const kinds = ['threadedComment', 'comments'];
const commentElements = new Set(['comment', 'cm', 'threadedComment']);

/** How many comments belong to a part, which are left out. Answers to a comment count, too. */
export async function countComments(archive: Archive, relationships: Relationship[]): Promise<number> {
  const counts = await Promise.all(
    kinds.map((kind) =>
      countIn(
        archive,
        relationships.filter(({ type }) => type === kind),
      ),
    ),
  );
  return Math.max(...counts);
}

async function countIn(archive: Archive, relationships: Relationship[]): Promise<number> {
  let count = 0;
  for (const { target } of relationships)
    await readXml(archive.pieces(target), { open: (name) => (count += commentElements.has(name) ? 1 : 0) });
  return count;
}
