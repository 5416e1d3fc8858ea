/** A refusal as the vendor words it: 200 with `{ ok: false, error }`. */
export class SlackError extends Error {
  readonly code: string;
  readonly more: Record<string, unknown>;

  constructor(code: string, more: Record<string, unknown> = {}) {
    super(code);
    this.code = code;
    this.more = more;
  }
}

/** Slack ignores unknown arguments. The simulator refuses them, so that a misspelling is noticed. */
export function requireKnown(given: Record<string, unknown>, known: string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new SlackError('invalid_arguments', { response_metadata: { messages: [`[ERROR] unknown argument: ${unknown}`] } });
}
