import { maxArchiveEntries } from './limits.ts';
import { damaged, tooLarge } from '../text/unparsable-document.ts';

/** An entry as declared in the archive's directory; unpacking may show other sizes. Sizes in bytes. */
export interface ArchiveEntry {
  name: string;
  isEncrypted: boolean;
  /** As APPNOTE.TXT numbers them: 0 stored, 8 deflated. */
  method: number;
  packedBytes: number;
  unpackedBytes: number;
  /** The offset of the entry's local header, which precedes its bytes. */
  headerOffset: number;
}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const endLength = 22;
const maxCommentLength = 65_535;
const entryLength = 46;

/**
 * Reads the directory of a zip archive without unpacking. Throws `UnparsableDocument` without a directory (a cut-off file) or with too many
 * entries. Layout: APPNOTE.TXT of PKWARE, 4.3.12 and 4.3.16. Uploads are too small for archives beyond 4 GiB (zip64).
 */
export function listArchiveEntries(bytes: Uint8Array): ArchiveEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEndRecord(view);
  if (end === undefined) throw damaged('it is cut off');
  let place = view.getUint32(end + 16, true);
  const entries: ArchiveEntry[] = [];
  const decoder = new TextDecoder();
  while (place + entryLength <= end && view.getUint32(place, true) === entrySignature) {
    if (entries.length >= maxArchiveEntries) throw tooLarge(`it is an archive of more than ${maxArchiveEntries} parts`);
    const nameLength = view.getUint16(place + 28, true);
    entries.push({
      name: decoder.decode(bytes.subarray(place + entryLength, place + entryLength + nameLength)),
      isEncrypted: (view.getUint16(place + 8, true) & 1) === 1,
      method: view.getUint16(place + 10, true),
      packedBytes: view.getUint32(place + 20, true),
      unpackedBytes: view.getUint32(place + 24, true),
      headerOffset: view.getUint32(place + 42, true),
    });
    place += entryLength + nameLength + view.getUint16(place + 30, true) + view.getUint16(place + 32, true);
  }
  return entries;
}

function findEndRecord(view: DataView): number | undefined {
  const last = view.byteLength - endLength;
  for (let place = last; place >= 0 && place >= last - maxCommentLength; place -= 1)
    if (view.getUint32(place, true) === endSignature) return place;
  return undefined;
}
