import { readExample } from './examples.ts';

/** The file that the tour uploads and asks about. Only the handbook has the answer. */
export const handbook = {
  file: 'handbook.md',
  mimeType: 'text/markdown',
  question: 'How long is the warranty on the compressor?',
  answer: /\b(?:seven|7)\b/i,
};

export const readHandbook = (): string => readExample(handbook.file);

/** What the tour reads of a document. */
export interface Document {
  document_uuid: string;
  filename: string;
  processing_status: 'pending' | 'processing' | 'completed' | 'failed';
  processing_error: string | null;
  total_chunks: number;
  file_hash: string;
}

export const describeDocument = ({ processing_status: status, processing_error: error, total_chunks: chunks }: Document): string =>
  `${status}${chunks > 0 ? `, ${chunks} chunks` : ''}${error === null ? '' : `: ${error}`}`;

/** What an agent answered from, in the log of its run. */
export interface Receipt {
  chunk_id: number;
  document_uuid: string;
  filename: string;
  similarity: number;
  vector_rank: number | null;
  keyword_rank: number | null;
}

export interface RunEvent {
  type: string;
  payload: { text?: string; receipts?: Receipt[]; reason?: string };
}

export const listReceipts = (events: RunEvent[]): Receipt[] => events.flatMap(({ payload }) => payload.receipts ?? []);

export const describeReceipt = ({ chunk_id, filename, similarity, vector_rank, keyword_rank }: Receipt): string =>
  `chunk ${chunk_id} of ${filename}: similarity ${similarity.toFixed(2)}, ${placed(vector_rank, 'by meaning')}, ${placed(keyword_rank, 'by words')}`;

const placed = (rank: number | null, list: string): string => (rank === null ? `not found ${list}` : `number ${rank} ${list}`);
