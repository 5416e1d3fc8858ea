import type { PdfObjects } from './pdf-objects.ts';

/** An object that is added to a file, or stands for the one of its number. As Latin 1. */
export type AddedObject = [number: number, text: string];

/** The end of a file as an update needs it. Undefined: it cannot be told. */
export interface FileEnd {
  /** The first number that is free. */
  next: number;
  trailer: string;
}

export function findFileEnd(file: string, objects: PdfObjects): FileEnd | undefined {
  const previous = /startxref\s+(\d+)(?![\s\S]*startxref)/.exec(file.slice(-2048))?.[1];
  const root = [...file.matchAll(/\/Root[\s\0]+(\d+[\s\0]+\d+[\s\0]+R)/g)].at(-1)?.[1];
  if (previous === undefined || root === undefined) return undefined;
  const info = [...file.matchAll(/\/Info[\s\0]+\d+[\s\0]+\d+[\s\0]+R/g)].at(-1)?.[0] ?? '';
  let next = 1;
  for (const [number] of objects.entries()) next = Math.max(next, number + 1);
  return { next, trailer: `/Root ${root} ${info} /Prev ${previous}` };
}

export const streamOf = (text: string, dictionary = ''): string => `<< ${dictionary} /Length ${text.length} >>\nstream\n${text}\nendstream`;

/** Adds an update to the end of the file, as programs do that save changes. */
export function appendObjects(bytes: Uint8Array, added: AddedObject[], { next, trailer }: FileEnd): Uint8Array {
  const parts = ['\n'];
  let length = 1;
  let size = next;
  const sections = added.map(([number, text]) => {
    const place = bytes.length + length;
    const object = `${number} 0 obj\n${text}\nendobj\n`;
    parts.push(object);
    length += object.length;
    size = Math.max(size, number + 1);
    return `${number} 1\n${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const start = bytes.length + length;
  parts.push(`xref\n${sections.join('')}trailer << /Size ${size} ${trailer} >>\nstartxref\n${start}\n%%EOF\n`);
  const update = parts.join('');
  const longer = new Uint8Array(bytes.length + update.length);
  longer.set(bytes);
  for (let index = 0; index < update.length; index += 1) longer[bytes.length + index] = update.charCodeAt(index);
  return longer;
}
