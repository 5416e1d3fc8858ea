/** A refusal as the vendor words it. */
export class MetaError extends Error {
  readonly status: number;
  readonly code: number;
  readonly details: string | undefined;
  readonly subcode: number | undefined;

  constructor(status: number, code: number, message: string, more: { details?: string; subcode?: number } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = more.details;
    this.subcode = more.subcode;
  }

  get response(): Response {
    const { message, code, details, subcode, status } = this;
    const error = {
      message,
      type: 'OAuthException',
      code,
      ...(details !== undefined && { error_data: { messaging_product: 'whatsapp', details } }),
      ...(subcode !== undefined && { error_subcode: subcode }),
      fbtrace_id: 'ASimulated0000000000000',
    };
    return Response.json({ error }, { status });
  }
}

export const badParameter = (details: string): MetaError => new MetaError(400, 100, '(#100) Invalid parameter', { details });

/** Refuses a request without a token, or with one that contains `invalid`; any other token is good. */
export function requireToken(authorization: string | undefined): void {
  const token = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw new MetaError(401, 200, '(#200) Provide valid app ID or a valid access token in the Authorization header');
  if (token.includes('invalid')) throw new MetaError(401, 190, 'Invalid OAuth access token - Cannot parse access token');
}
