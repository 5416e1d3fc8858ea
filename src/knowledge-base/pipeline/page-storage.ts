import type { DocumentRow } from '../documents/store.ts';
import type { NewChunk } from './split-into-pages.ts';

/** What a file was found to be, and cut into. It is written after the pages: once it is there they never change. */
export interface PageManifest {
  mime_type: string;
  parser_metadata: Record<string, unknown>;
  chunks: number;
  /** The first chunk of each page. */
  starts: number[];
}

type PageOwner = Pick<DocumentRow, 'organization_id' | 'uuid' | 'next_generation'>;

const folderKey = ({ organization_id, uuid }: Omit<PageOwner, 'next_generation'>) => `knowledge_base_pages/${organization_id}/${uuid}/`;
const keyOf = (document: PageOwner, name: string) => `${folderKey(document)}${document.next_generation}/${name}.json`;

export async function writePage(bucket: R2Bucket, document: PageOwner, page: number, chunks: NewChunk[]): Promise<void> {
  await bucket.put(keyOf(document, String(page)), JSON.stringify(chunks));
}

export async function writeManifest(bucket: R2Bucket, document: PageOwner, contents: PageManifest): Promise<void> {
  await bucket.put(keyOf(document, 'contents'), JSON.stringify(contents));
}

/** Null behind the last page. */
export async function readPage(bucket: R2Bucket, document: PageOwner, page: number): Promise<NewChunk[] | null> {
  const object = await bucket.get(keyOf(document, String(page)));
  return object && object.json<NewChunk[]>();
}

/** Null until the file has been cut. */
export async function readManifest(bucket: R2Bucket, document: PageOwner): Promise<PageManifest | null> {
  const object = await bucket.get(keyOf(document, 'contents'));
  return object && object.json<PageManifest>();
}

/** Deletes the pages of the generation and of those before it. */
export async function deletePages(bucket: R2Bucket, document: PageOwner): Promise<void> {
  const prefix = folderKey(document);
  for (let cursor: string | undefined, isLast = false; !isLast;) {
    const listed = await bucket.list({ prefix, ...(cursor === undefined ? {} : { cursor }) });
    const keys = listed.objects.map(({ key }) => key).filter((key) => parseInt(key.slice(prefix.length), 10) <= document.next_generation);
    if (keys.length > 0) await bucket.delete(keys);
    isLast = !listed.truncated;
    cursor = listed.truncated ? listed.cursor : undefined;
  }
}
