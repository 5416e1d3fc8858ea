import { UnreadableFileError } from './unreadable-file.ts';

export type UnparsableCode = 'password_protected' | 'no_text' | 'empty' | 'unsupported_type' | 'too_large' | 'damaged';

/** A document could not be parsed. `message` is a sentence for the person who uploaded it: the cause and the remedy. */
export class UnparsableDocument extends UnreadableFileError {
  override readonly name = 'UnparsableDocument';
  readonly code: UnparsableCode;

  constructor(code: UnparsableCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export const passwordProtected = () =>
  new UnparsableDocument('password_protected', 'The file is protected by a password; save it without one and upload it again');

/** `what`: "an XML file". `advice`: the next step. */
export const unsupportedFile = (what: string, advice: string) =>
  new UnparsableDocument('unsupported_type', `The file is ${what}, which cannot be read; ${advice}`);

export const tooLarge = (what: string, advice = 'split it into smaller files and upload those') =>
  new UnparsableDocument('too_large', `The file is too large: ${what}; ${advice}`);

export const damaged = (what: string, cause?: unknown) =>
  new UnparsableDocument('damaged', `The file is damaged: ${what}; save or export it once more and upload it again`, cause);
