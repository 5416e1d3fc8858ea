/** A file that cannot be read in its declared form. The message is a sentence for the sender. */
export class UnreadableFileError extends Error {
  override readonly name: string = 'UnreadableFile';
}

/** A file of bytes that are no text. `why`: what shows it, as the end of a sentence; empty where there is nothing to name. */
export class NotTextError extends UnreadableFileError {
  readonly why: string;

  constructor(why: string, although = '') {
    super(`The file is not text${although}${why === '' ? '' : `: ${why}`}; save it as CSV in UTF-8 and try again`);
    this.why = why;
  }
}

/** The bytes are text of more than one encoding, or not of the named one. `candidates`: the likeliest first. */
export class UncertainEncoding extends UnreadableFileError {
  readonly candidates: string[];

  constructor(message: string, candidates: string[]) {
    super(message);
    this.candidates = candidates;
  }
}
