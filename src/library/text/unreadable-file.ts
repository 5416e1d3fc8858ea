/** A file that cannot be read in its declared form. The message is a sentence for the sender. */
export class UnreadableFileError extends Error {
  override readonly name: string = 'UnreadableFile';
}

/** The bytes are text of more than one encoding, or not of the named one. `candidates`: the likeliest first. */
export class UncertainEncoding extends UnreadableFileError {
  readonly candidates: string[];

  constructor(message: string, candidates: string[]) {
    super(message);
    this.candidates = candidates;
  }
}
