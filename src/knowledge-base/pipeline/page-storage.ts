import type { DocumentRow } from '../documents/store.ts';
import type { DocumentWarning } from '../parsing/warnings.ts';
import type { NewChunk } from '../chunks/store.ts';

/** The type of a file and its pages. It is written after the pages, which never change from then on. */
export interface PageManifest {
  mime_type: string;
  parser_metadata: Record<string, unknown>;
  /** Absent in manifests that were written before there were warnings. */
  warnings?: DocumentWarning[];
  chunks: number;
  /** The first chunk of each page. */
  starts: number[];
}

type PageOwner = Pick<DocumentRow, 'organization_id' | 'uuid' | 'next_generation'>;

const folderKey = ({ organization_id, uuid }: Omit<PageOwner, 'next_generation'>) => `knowledge_base_pages/${organization_id}/${uuid}/`;
const objectKey = (document: PageOwner, name: string) => `${folderKey(document)}${document.next_generation}/${name}.json`;

/** Stores the chunks of a page. */
export async function writePage(bucket: R2Bucket, document: PageOwner, page: number, chunks: NewChunk[]): Promise<void> {
  await bucket.put(objectKey(document, String(page)), JSON.stringify(chunks));
}

/** Stores the manifest. */
export async function writeManifest(bucket: R2Bucket, document: PageOwner, manifest: PageManifest): Promise<void> {
  await bucket.put(objectKey(document, 'contents'), JSON.stringify(manifest));
}

/** The chunks of a page; null after the last page. */
export async function readPage(bucket: R2Bucket, document: PageOwner, page: number): Promise<NewChunk[] | null> {
  const object = await bucket.get(objectKey(document, String(page)));
  return object && object.json<NewChunk[]>();
}

/** The manifest; null until the file is cut into pages. */
export async function readManifest(bucket: R2Bucket, document: PageOwner): Promise<PageManifest | null> {
  const object = await bucket.get(objectKey(document, 'contents'));
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
