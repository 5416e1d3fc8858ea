/** A refusal as the vendor words it: `{ errors: [{ code, title, detail, source, meta }] }`. */
export class TelnyxError extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly pointer: string | undefined;

  constructor(status: number, code: string, title: string, detail: string, pointer?: string) {
    super(detail);
    this.status = status;
    this.code = code;
    this.title = title;
    this.pointer = pointer;
  }

  get response(): Response {
    const { code, title, message: detail, pointer, status } = this;
    const meta = { url: `https://developers.telnyx.com/docs/overview/errors/${code}` };
    return Response.json({ errors: [{ code, title, detail, ...(pointer && { source: { pointer } }), meta }] }, { status });
  }
}

export const invalid = (pointer: string, detail: string): TelnyxError => new TelnyxError(422, '10015', 'Bad Request', detail, pointer);

export const notFound = (): TelnyxError =>
  new TelnyxError(404, '10005', 'Resource not found', 'The requested resource or URL could not be found.');

/** Any key is good that does not contain `invalid`. Throws TelnyxError. */
export function requireKey(authorization: string | undefined): void {
  const key = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
  if (key === undefined || key.includes('invalid'))
    throw new TelnyxError(401, '10009', 'Authentication failed', 'Could not find any usable credentials in the request.');
}
