/** A document could not be parsed. `message` is a sentence for the person who uploaded it: the cause and the remedy. */
export type UnparsableCode = 'password_protected' | 'no_text' | 'empty' | 'unsupported_type' | 'too_large' | 'damaged';

export class UnparsableDocument extends Error {
  override readonly name = 'UnparsableDocument';
  readonly code: UnparsableCode;

  constructor(code: UnparsableCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export const passwordProtected = () =>
  new UnparsableDocument('password_protected', 'The file is protected by a password; save it without one and upload it again');

/** `where`: "on its 3 pages". */
export const noText = (where: string) =>
  new UnparsableDocument(
    'no_text',
    `There is no text ${where}, only pictures or scans; run text recognition (OCR) over the file and upload it again`,
  );

export const emptyDocument = (how = 'The file is empty') =>
  new UnparsableDocument('empty', `${how}; upload the file again once it has its content`);

export const unsupportedType = (what: string, advice = `upload one of ${supportedTypes}`) =>
  new UnparsableDocument('unsupported_type', `The file is ${what}, which cannot be read; ${advice}`);

/** `found`: the detected type; null: no known signature. */
export const notAsDeclared = (declared: string, found: string | null) =>
  new UnparsableDocument(
    'unsupported_type',
    `By its name or its mime type the file is a ${declared}, and by its content it is ${found === null ? 'none' : `a ${found}`}; ` +
      'upload the file that was meant, or this one under the name and type that it has',
  );

export const tooLarge = (what: string, advice = 'split it into smaller files and upload those') =>
  new UnparsableDocument('too_large', `The file is too large: ${what}; ${advice}`);

export const damaged = (what: string, cause?: unknown) =>
  new UnparsableDocument('damaged', `The file is damaged: ${what}; save or export it once more and upload it again`, cause);

const supportedTypes = 'pdf, docx, pptx, xlsx, csv, tsv, txt, md, html, json, rtf, eml';
