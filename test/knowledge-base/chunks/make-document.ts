import type { Block, ParsedDocument } from '../../../src/knowledge-base/parsing/blocks.ts';

export const heading = (level: number, text: string): Block => ({ kind: 'heading', level, text, page: null });
export const paragraph = (text: string, page: number | null = null): Block => ({ kind: 'paragraph', text, page });
export const item = (text: string): Block => ({ kind: 'list_item', text, page: null });
export const table = (text: string, header: string | null = text.split('\n')[0] ?? null, isContinued = false): Block => ({
  kind: 'table',
  text,
  header,
  isContinued,
  page: null,
});

export const documentOf = (blocks: Block[], title: string | null = null): ParsedDocument => ({
  title,
  blocks,
  metadata: { type: 'txt', pages: null, pages_without_text: 0 },
  warnings: [],
});
