import { randomUUID } from 'node:crypto';

/** A refusal as the broker words it: `{ error: { message, code, slug, status, request_id, suggested_fix } }`. */
export class ComposioError extends Error {
  readonly status: number;
  readonly code: number;
  readonly slug: string;

  constructor(status: number, message: string, { slug, code }: { slug: string; code: number }) {
    super(message);
    this.status = status;
    this.code = code;
    this.slug = slug;
  }

  get response(): Response {
    const { message, code, slug, status } = this;
    const error = { message, code, slug, status, request_id: randomUUID(), suggested_fix: 'See https://docs.composio.dev', errors: [] };
    return Response.json({ error }, { status });
  }
}

export const noSuchAccount = (id: string): ComposioError =>
  new ComposioError(404, `Connected account "${id}" not found`, { slug: 'ConnectedAccount_ResourceNotFound', code: 606 });

export const badRequest = (message: string): ComposioError => new ComposioError(400, message, { slug: 'HTTP_BadRequest', code: 400 });
