import PostalMime from 'postal-mime';
import type { Address } from 'postal-mime';
import type { BlockWriter } from '../block-writer.ts';
import { readHtmlPieces } from '../html/read-html.ts';
import { deepestParts } from '../limits.ts';
import type { Reading } from '../parse.ts';
import { readTextPieces } from '../text/read-plain-text.ts';
import { tooLarge } from '../unparsable-document.ts';

/** A message: its subject as heading, who wrote to whom and when, its text, and the names of what is attached. */
export async function readEmail(bytes: Uint8Array, writer: BlockWriter): Promise<Reading> {
  const email = await PostalMime.parse(bytes, { maxNestingDepth: deepestParts, maxRfc822NestingDepth: deepestParts }).catch(
    (error: unknown) => {
      if (error instanceof Error && /nesting/i.test(error.message))
        throw tooLarge(`its parts lie more than ${deepestParts} deep in each other`, 'save the message that you need as a file of its own');
      throw error;
    },
  );
  writer.heading(1, email.subject ?? '');
  writer.paragraph(
    [
      line('From', email.from && [email.from]),
      line('To', email.to),
      line('Cc', email.cc),
      email.date === undefined ? '' : `Date: ${email.date}`,
    ].join('\n'),
  );
  const before = writer.blocks.length;
  if (email.html !== undefined) await readHtmlPieces([email.html], writer);
  writer.endTable();
  if (writer.blocks.length === before && email.text !== undefined) await readTextPieces(onePiece(email.text), writer);
  const attached = email.attachments.flatMap(({ filename, related }) => (filename === null || related === true ? [] : [filename]));
  if (attached.length > 0) writer.paragraph(`Attachments: ${attached.join(', ')}`);
  return { title: email.subject };
}

const line = (name: string, addresses: Address[] | undefined): string =>
  addresses === undefined || addresses.length === 0 ? '' : `${name}: ${addresses.map(shown).join(', ')}`;

function shown({ name, address, group }: Address): string {
  if (group) return `${name}: ${group.map(shown).join(', ')}`;
  return name === '' ? (address ?? '') : `${name} <${address}>`;
}

async function* onePiece(text: string): AsyncGenerator<string> {
  yield text;
}
