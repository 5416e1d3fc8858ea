/** A refusal as the vendor words it: `{ type: 'error', error: { type, message } }`. */
export class AnthropicError extends Error {
  readonly status: number;
  readonly body: { type: 'error'; error: { type: string; message: string } };
  readonly headers: Record<string, string>;

  constructor(status: number, type: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.body = { type: 'error', error: { type, message } };
    this.headers = headers;
  }
}

export const badRequest = (message: string): AnthropicError => new AnthropicError(400, 'invalid_request_error', message);
