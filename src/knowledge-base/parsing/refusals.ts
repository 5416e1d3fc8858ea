import { UnparsableDocument, unsupportedFile } from '../../library/text/unparsable-document.ts';

/** `where`: "on its 3 pages". */
export const noText = (where: string) =>
  new UnparsableDocument(
    'no_text',
    `There is no text ${where}, only pictures or scans; run text recognition (OCR) over the file and upload it again`,
  );

export const allHidden = () =>
  new UnparsableDocument('no_text', 'All text of the file is hidden, and hidden parts are left out; show them and upload the file again');

export const emptyDocument = (how = 'The file is empty') =>
  new UnparsableDocument('empty', `${how}; upload the file again once it has its content`);

export const unsupportedType = (what: string, advice = `upload one of ${supportedTypes}`) => unsupportedFile(what, advice);

/** `why`: what shows it, as the end of a sentence, or nothing. */
export const notText = (why: string) => unsupportedType(`neither text nor a known kind of document${why === '' ? '' : ` (${why})`}`);

/** `found`: the detected type; null: no known signature. */
export const notAsDeclared = (declared: string, found: string | null) =>
  new UnparsableDocument(
    'unsupported_type',
    `By its name or its mime type the file is a ${declared}, and by its content it is ${found === null ? 'none' : `a ${found}`}; ` +
      'upload the file that was meant, or this one under the name and type that it has',
  );

const supportedTypes = 'pdf, docx, pptx, xlsx, csv, tsv, txt, md, html, json, rtf, eml';
