import type { DocumentType } from '../parsing/blocks.ts';

/** The first mime type is the one shown; all of them may be declared. */
const fileTypes: Record<DocumentType, { mimeTypes: [string, ...string[]]; extensions: string[] }> = {
  pdf: { mimeTypes: ['application/pdf'], extensions: ['pdf'] },
  docx: { mimeTypes: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document'], extensions: ['docx'] },
  pptx: { mimeTypes: ['application/vnd.openxmlformats-officedocument.presentationml.presentation'], extensions: ['pptx'] },
  xlsx: { mimeTypes: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'], extensions: ['xlsx'] },
  csv: { mimeTypes: ['text/csv', 'application/csv'], extensions: ['csv'] },
  tsv: { mimeTypes: ['text/tab-separated-values'], extensions: ['tsv', 'tab'] },
  txt: { mimeTypes: ['text/plain'], extensions: ['txt', 'text'] },
  md: { mimeTypes: ['text/markdown', 'text/x-markdown'], extensions: ['md', 'markdown'] },
  html: { mimeTypes: ['text/html', 'application/xhtml+xml'], extensions: ['html', 'htm', 'xhtml'] },
  json: { mimeTypes: ['application/json', 'application/x-ndjson'], extensions: ['json', 'jsonl', 'ndjson'] },
  rtf: { mimeTypes: ['application/rtf', 'text/rtf'], extensions: ['rtf'] },
  eml: { mimeTypes: ['message/rfc822'], extensions: ['eml'] },
};

export const mimeTypeOf = (type: DocumentType): string => fileTypes[type].mimeTypes[0];

export const supportedTypeNames = Object.keys(fileTypes).join(', ');

const extensions = new Set(Object.values(fileTypes).flatMap((type) => type.extensions));
const mimeTypes = new Set(Object.values(fileTypes).flatMap((type) => type.mimeTypes));

/** Whether a file may be one that can be read: by its extension, or by its declared type where the extension tells nothing. */
export function hasSupportedType(filename: string, declaredType: string): boolean {
  const extension = /\.([^.\s]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';
  return extensions.has(extension) || mimeTypes.has(declaredType.split(';')[0]!.trim().toLowerCase());
}
