import type { BlockWriter } from './block-writer.ts';

/** The facts of a document beside its blocks. `pages_without_text`: their numbers. */
export interface ReadResult {
  title?: string | null | undefined;
  pages?: number;
  pages_without_text?: number[];
}

/** `encoding`: that of a text, if the sender names it. */
export interface FileFacts {
  name: string;
  encoding?: string | undefined;
}

/** Reads a file of one type and writes its blocks. */
export type DocumentReader = (bytes: Uint8Array, writer: BlockWriter, facts: FileFacts) => Promise<ReadResult>;
