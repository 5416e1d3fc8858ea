import type { DocumentRow } from '../store.ts';
import type { PageChunk } from './pages.ts';

/** What a file was found to be, and cut into. It is written after the pages: once it is there they never change. */
export interface Contents {
  mime_type: string;
  parser_metadata: Record<string, unknown>;
  chunks: number;
  /** The first chunk of each page. */
  starts: number[];
}

type Generation = Pick<DocumentRow, 'organization_id' | 'uuid' | 'next_generation'>;

const folderOf = ({ organization_id, uuid }: Omit<Generation, 'next_generation'>) => `knowledge_base_pages/${organization_id}/${uuid}/`;
const keyOf = (document: Generation, name: string) => `${folderOf(document)}${document.next_generation}/${name}.json`;

export async function writePage(bucket: R2Bucket, document: Generation, page: number, chunks: PageChunk[]): Promise<void> {
  await bucket.put(keyOf(document, String(page)), JSON.stringify(chunks));
}

export async function writeContents(bucket: R2Bucket, document: Generation, contents: Contents): Promise<void> {
  await bucket.put(keyOf(document, 'contents'), JSON.stringify(contents));
}

/** Null behind the last page. */
export async function readPage(bucket: R2Bucket, document: Generation, page: number): Promise<PageChunk[] | null> {
  const object = await bucket.get(keyOf(document, String(page)));
  return object && object.json<PageChunk[]>();
}

/** Null until the file has been cut. */
export async function readContents(bucket: R2Bucket, document: Generation): Promise<Contents | null> {
  const object = await bucket.get(keyOf(document, 'contents'));
  return object && object.json<Contents>();
}

/** Deletes the pages of the generation and of those before it. */
export async function deletePages(bucket: R2Bucket, document: Generation): Promise<void> {
  const prefix = folderOf(document);
  for (let cursor: string | undefined, isLast = false; !isLast;) {
    const listed = await bucket.list({ prefix, ...(cursor === undefined ? {} : { cursor }) });
    const keys = listed.objects.map(({ key }) => key).filter((key) => parseInt(key.slice(prefix.length), 10) <= document.next_generation);
    if (keys.length > 0) await bucket.delete(keys);
    isLast = !listed.truncated;
    cursor = listed.truncated ? listed.cursor : undefined;
  }
}
