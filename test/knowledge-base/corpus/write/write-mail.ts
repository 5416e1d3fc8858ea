import { encodeText } from '../../../support/encode-text.ts';

/** The bytes as text of Latin-1, in which a message can be joined. */
export const toBinary = (bytes: Uint8Array): string => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
export const fromBinary = (content: string): Uint8Array => Uint8Array.from(content, (sign) => sign.charCodeAt(0));

const base64 = (bytes: Uint8Array): string => btoa(toBinary(bytes)).replace(/.{76}/g, '$&\r\n');

const quotedPrintable = (bytes: Uint8Array): string =>
  toBinary(bytes)
    .replace(/[^\r\n\u0020-\u003c\u003e-\u007e]/g, (sign) => `=${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
    .split('\r\n')
    .map((line) => line.replace(/.{70}(?!$)/g, (piece) => cutEscape(piece)))
    .join('\r\n');
/** A soft line end may not stand within an escape. */
const cutEscape = (piece: string): string => {
  const cut = /=[0-9A-F]?$/.exec(piece)?.index ?? piece.length;
  return `${piece.slice(0, cut)}=\r\n${piece.slice(cut)}`;
};

export type Transfer = '8bit' | 'base64' | 'quoted-printable';

/** A part of a message: its headers, and its text in an encoding. */
export function mailPart(type: string, content: string, { charset = 'utf-8', transfer = '8bit' as Transfer, more = '' } = {}): string {
  const bytes = encodeText(content.replaceAll('\n', '\r\n'), new TextDecoder(charset).encoding);
  const body = transfer === 'base64' ? base64(bytes) : transfer === 'quoted-printable' ? quotedPrintable(bytes) : toBinary(bytes);
  return `Content-Type: ${type}; charset=${charset}${more}\r\nContent-Transfer-Encoding: ${transfer}\r\n\r\n${body}\r\n`;
}

const encodedWord = (content: string, charset: string): string =>
  /^[\u0020-\u007e]*$/.test(content)
    ? content
    : `=?${charset}?B?${btoa(toBinary(encodeText(content, new TextDecoder(charset).encoding)))}?=`;

/** `body`: headers of the content and the content, as of `mailPart` or `multipart`. */
export const toMail = (subject: string, body: string, { charset = 'utf-8', more = '' } = {}): Uint8Array =>
  fromBinary(
    `From: Ada <ada@example.org>\r\nTo: Bob <bob@example.org>\r\nSubject: ${encodedWord(subject, charset)}\r\n` +
      `Date: Fri, 16 Dec 2022 17:04:16 +0000\r\n${more}MIME-Version: 1.0\r\n${body}`,
  );

/** What is read of the headers that `toMail` writes, after the subject. */
export const mailHeaders = 'From: Ada <ada@example.org>\nTo: Bob <bob@example.org>\nDate: 2022-12-16T17:04:16.000Z';

export const multipart = (kind: string, parts: string[], boundary = `b-${kind}`): string =>
  `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\n${parts.map((part) => `--${boundary}\r\n${part}`).join('')}--${boundary}--\r\n`;

export const attachment = (name: string, type: string, content: string): string =>
  `Content-Type: ${type}\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${btoa(content)}\r\n`;
