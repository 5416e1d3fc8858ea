import PostalMime from 'postal-mime';
import type { Address, Attachment, Email } from 'postal-mime';
import { yieldToEventLoop } from '../../../library/limits/yield-to-event-loop.ts';
import type { BlockWriter } from '../block-writer.ts';
import { declaredEncoding, readHtmlPieces } from '../html/read-html.ts';
import { pieceLength } from '../../../library/office-files/limits.ts';
import { maxPartDepth } from '../limits.ts';
import type { ReadResult } from '../document-reader.ts';
import { splitText, warnOfGuess } from '../text/decode-text-pieces.ts';
import { readTextPieces } from '../text/read-plain-text.ts';
import { tooLarge } from '../../../library/text/unparsable-document.ts';
import type { WarningCounts } from '../warnings.ts';
import { findPartEncoding } from './part-encoding.ts';

/** Splits a message into its parts, and lets requests go first between two slices of it. */
async function splitMessage(bytes: Uint8Array, warnings: WarningCounts): Promise<Email> {
  const parser = new PostalMime({ maxNestingDepth: maxPartDepth, maxRfc822NestingDepth: maxPartDepth }) as OpenParser;
  const processLine = parser.processLine.bind(parser);
  const collectNode = parser.collectNode.bind(parser);
  let sliceLength = 0;
  parser.processLine = async (line, isFinal) => {
    await processLine(line, isFinal);
    sliceLength += line.length;
    if (sliceLength < pieceLength) return;
    sliceLength = 0;
    await yieldToEventLoop();
  };
  parser.collectNode = async (part, ...place) => {
    nameEncoding(part, warnings);
    await collectNode(part, ...place);
  };
  return parser.parse(bytes);
}

/** The library's own steps, which its types leave out: one is awaited for each line, the other for each part. */
type OpenParser = PostalMime & {
  processLine(line: Uint8Array, isFinal: boolean): Promise<void>;
  collectNode(part: Part, ...place: unknown[]): Promise<void>;
};
interface Part {
  contentType: { parsed: { value: string; params: Record<string, string> } };
  content: ArrayBuffer | null;
}

/** The library reads a part without a charset as UTF-8, and one of an unknown charset as Western. */
function nameEncoding({ contentType: { parsed }, content }: Part, warnings: WarningCounts): void {
  if (content === null || !/^text\/(?:plain|html)$/i.test(parsed.value)) return;
  const bytes = new Uint8Array(content);
  const found = findPartEncoding(bytes, { named: parsed.params['charset'], inside: declaredEncoding(bytes) });
  if (found === undefined) return;
  parsed.params['charset'] = found.encoding;
  if (found.guess) warnOfGuess(found.guess, warnings);
}

/** Reads an e-mail: subject as heading, sender, recipients and date, text, and names of attachments, whose contents are left out. */
export async function readEmail(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  const email = await splitMessage(bytes, writer.warnings).catch((error: unknown) => {
    if (error instanceof Error && /nesting/i.test(error.message))
      throw tooLarge(`its parts lie more than ${maxPartDepth} deep in each other`, 'save the message that you need as a file of its own');
    throw error;
  });
  writer.heading(1, email.subject ?? '');
  writer.paragraph(
    [
      formatAddressLine('From', email.from && [email.from]),
      formatAddressLine('To', email.to),
      formatAddressLine('Cc', email.cc),
      formatAddressLine('Bcc', email.bcc),
      formatAddressLine('Reply-To', email.replyTo),
      email.date === undefined ? '' : `Date: ${email.date}`,
    ].join('\n'),
  );
  const before = writer.blocks.length;
  if (email.html !== undefined) await readHtmlPieces(splitText(email.html), writer);
  writer.endTable();
  if (writer.blocks.length === before && email.text !== undefined) await readTextPieces(splitText(email.text), writer);
  const [pictures, attached] = [email.attachments.filter(isPictureOfText), email.attachments.filter((one) => !isPictureOfText(one))];
  const names = attached.flatMap(({ filename }) => (filename === null ? [] : [filename]));
  if (names.length > 0) writer.paragraph(`Attachments: ${names.join(', ')}`);
  writer.warnings.add('attachments_left_out', { count: attached.length });
  writer.warnings.add('images_skipped', { count: pictures.length });
  writer.warnings.add('characters_damaged', { count: countDamaged(email) });
  return { title: email.subject };
}

const isPictureOfText = ({ related, mimeType }: Attachment): boolean => related === true && mimeType.startsWith('image/');

/** The signs that a wrong or missing charset has destroyed. */
const countDamaged = ({ subject = '', html, text = '' }: Email): number => `${subject}${html ?? text}`.split('\ufffd').length - 1;

const formatAddressLine = (name: string, addresses: Address[] | undefined): string =>
  addresses === undefined || addresses.length === 0 ? '' : `${name}: ${addresses.map(formatAddress).join(', ')}`;

function formatAddress({ name, address, group }: Address): string {
  if (group) return `${name}: ${group.map(formatAddress).join(', ')}`;
  return name === '' ? (address ?? '') : `${name} <${address}>`;
}
