import { escapeLeadingPlus } from '../../../library/phone/unescaped-plus.ts';
import { cleanText } from '../../../library/text/clean-text.ts';
import { parseJson, type Json } from '../../../library/json/json.ts';

/**
 * The body of a delivery: JSON data or text in `body`, or other bytes as base64 in `raw` with `body` null. `unread`: why it is not what its content
 * type says, in a sentence without its content.
 */
export interface ParsedBody {
  body: Json;
  raw?: string;
  unread?: string;
}

/**
 * Parses a body by its content type. JSON under another text type, as `curl -d` and some notification services send it, is parsed as JSON. JSON
 * that is malformed or nested too deep is kept as text, since the sender is answered 202 and does not send again. Never throws.
 */
export async function parseBody(contentType: string | null, bytes: Uint8Array): Promise<ParsedBody> {
  if (bytes.length === 0) return { body: null };
  const type = (contentType ?? '').split(';')[0]!.trim().toLowerCase();
  if (type === 'multipart/form-data') return readMultipart(contentType ?? '', bytes);
  const isForm = type === 'application/x-www-form-urlencoded';
  const isJson = /^application\/([\w.-]+\+)?json$/.test(type);
  const isText = type.startsWith('text/') || /^application\/([\w.-]+\+)?xml$/.test(type);
  if (!isForm && !isJson && !isText && type !== '') return { body: null, raw: toBase64(bytes) };
  const text = decodeText(contentType ?? '', bytes);
  if (text === null) return { body: null, raw: toBase64(bytes), unread: notInCharset(contentType ?? '') };
  const json = isJson || /^\s*[[{]/.test(text) ? tryParseJson(text) : undefined;
  if (json !== undefined) return { body: json };
  if (isJson)
    return { body: cleanText(text), unread: 'The body is declared as JSON and is none; look for a trailing comma or a missing quote' };
  return { body: isForm ? toFieldValues(readForm(text, contentType ?? '')) : cleanText(text) };
}

const notInCharset = (contentType: string): string =>
  `The bytes of the body are not in ${declaredCharset(contentType)}; send UTF-8, or name the charset in the content type`;

function tryParseJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

const declaredCharset = (contentType: string): string => /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1] ?? 'utf-8';

/**
 * The fields of a form, whose escapes are bytes of the declared character set (`J%FCrgen` in iso-8859-1). Escapes that mean nothing in it are
 * read as UTF-8, since many senders declare one and escape in the other.
 */
function readForm(text: string, contentType: string): [string, string][] {
  const decoder = new TextDecoder(declaredCharset(contentType), { fatal: true, ignoreBOM: true });
  const escaped = escapeLeadingPlus(text);
  if (decoder.encoding === 'utf-8') return [...new URLSearchParams(escaped)];
  const read = (part: string) => decodeEscapes(part.replaceAll('+', ' '), decoder);
  return escaped
    .split('&')
    .filter((field) => field !== '')
    .map((field) => {
      const equals = field.indexOf('=');
      return equals < 0 ? [read(field), ''] : [read(field.slice(0, equals)), read(field.slice(equals + 1))];
    });
}

/** A run of escapes and of the ASCII signs between them is one sequence of bytes: in Shift_JIS the second byte of a sign may be a letter. */
const escapedRun = /%[\da-f]{2}(?:[\x21-\x24\x26-\x7e]*%[\da-f]{2})*[\x21-\x24\x26-\x7e]?/gi;

const decodeEscapes = (part: string, decoder: TextDecoder): string =>
  part.replace(escapedRun, (run) => {
    const bytes = Uint8Array.from(run.matchAll(/%([\da-f]{2})|[^]/gi), ([sign, hex]) =>
      hex === undefined ? sign.charCodeAt(0) : Number.parseInt(hex, 16),
    );
    try {
      return decoder.decode(bytes);
    } catch {
      return new TextDecoder().decode(bytes);
    }
  });

/** The text of the bytes in the declared character set (default UTF-8); null when they are not valid in it. */
function decodeText(contentType: string, bytes: Uint8Array): string | null {
  const charset = declaredCharset(contentType);
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}

/** Text fields by name. A file is represented by its name, type and size. */
async function readMultipart(contentType: string, bytes: Uint8Array): Promise<ParsedBody> {
  try {
    const form = await new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { 'content-type': contentType } }).formData();
    return { body: toFieldValues(form) };
  } catch {
    return { body: null, raw: toBase64(bytes), unread: 'The body is declared as a multipart form and is none' };
  }
}

interface FileLike {
  name: string;
  type: string;
  size: number;
}

/** Values by field name. A field that occurs several times has an array. */
function toFieldValues(entries: Iterable<[string, string | FileLike]>): Json {
  const all = new Map<string, Json[]>();
  for (const [name, value] of entries) {
    const item =
      typeof value === 'string' ? cleanText(value) : { name: cleanText(value.name), type: cleanText(value.type), size: value.size };
    const field = cleanText(name);
    const values = all.get(field);
    if (values) values.push(item);
    else all.set(field, [item]);
  }
  return Object.fromEntries([...all].map(([name, values]) => [name, values.length === 1 ? values[0]! : values]));
}

/** Encodes in pieces: the bytes of a large body are too many arguments for one call. */
function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
