import type { DocumentType } from '../parsing/blocks.ts';

const maxKeyPartLength = 100;

/** The filename without its folders; null when no name is left. */
export function extractFilename(text: string): string | null {
  const name = text.split(/[\\/]/).findLast((part) => part.trim() !== '') ?? '';
  return /[^.\s]/.test(name) ? name.trim() : null;
}

/** The filename for a storage key: letters, digits and signs without a meaning in paths. The extension stays. */
export function toSafeName(filename: string): string {
  const plain = filename
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '_')
    .replace(/\.{2,}/g, '.')
    .replace(/^[._-]+/, '');
  const characters = [...plain];
  return (
    (characters.length > maxKeyPartLength
      ? characters
          .slice(-maxKeyPartLength)
          .join('')
          .replace(/^[._-]+/, '')
      : plain) || 'document'
  );
}

/** The first MIME type is shown; uploads may declare any of them. */
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

/** The MIME type that is shown for a type of document. */
export const mimeTypeOf = (type: DocumentType): string => fileTypes[type].mimeTypes[0];

export const supportedTypeNames = Object.keys(fileTypes).join(', ');

const extensions = new Set(Object.values(fileTypes).flatMap((type) => type.extensions));
const mimeTypes = new Set(Object.values(fileTypes).flatMap((type) => type.mimeTypes));

/** Whether the extension or the declared MIME type is supported. */
export function hasSupportedType(filename: string, declaredType: string): boolean {
  const extension = /\.([^.\s]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';
  return extensions.has(extension) || mimeTypes.has(declaredType.split(';')[0]!.trim().toLowerCase());
}
