const canonical: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ALREADY_EXISTS',
  415: 'INVALID_ARGUMENT',
};

/** A refusal as Google's APIs word it; older ones name the reason in `errors`, newer ones in `details`. */
export class GoogleError extends Error {
  readonly code: number;
  readonly reason: string | undefined;
  readonly details: object[] | undefined;

  constructor(code: number, message: string, more: { reason?: string; details?: object[] } = {}) {
    super(message);
    this.code = code;
    this.reason = more.reason;
    this.details = more.details;
  }

  get response(): Response {
    const { code, message, reason, details } = this;
    const errors = reason && [{ domain: 'global', reason, message }];
    const error = { code, message, status: canonical[code], ...(errors && { errors }), ...(details && { details }) };
    return Response.json({ error }, { status: code });
  }
}

export const invalid = (message: string, reason?: string): GoogleError => new GoogleError(400, message, reason ? { reason } : {});

export const scopeMissing = (): GoogleError =>
  new GoogleError(403, 'Request had insufficient authentication scopes.', {
    reason: 'insufficientPermissions',
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT', domain: 'googleapis.com' }],
  });
