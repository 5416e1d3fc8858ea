/** A refusal as the vendor words it: `{ error: { message, type, param, code } }`. */
export class OpenAiError extends Error {
  readonly status: number;
  readonly body: { error: { message: string; type: string; param: string | null; code: string | null } };
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    message: string,
    more: { type?: string; param?: string; code?: string; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.status = status;
    this.body = { error: { message, type: more.type ?? 'invalid_request_error', param: more.param ?? null, code: more.code ?? null } };
    this.headers = more.headers ?? {};
  }
}

export const badRequest = (message: string, more: { type?: string; param?: string; code?: string } = {}): OpenAiError =>
  new OpenAiError(400, message, more);

export const modelNotFound = (model: string): OpenAiError =>
  new OpenAiError(404, `The model \`${model}\` does not exist or you do not have access to it.`, { code: 'model_not_found' });
