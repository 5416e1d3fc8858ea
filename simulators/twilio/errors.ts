/** A refusal as the vendor words it: `{ code, message, more_info, status }`. */
export class TwilioError extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  get response(): Response {
    const { code, message, status } = this;
    return Response.json({ code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status }, { status });
  }
}

export const badRequest = (code: number, message: string): TwilioError => new TwilioError(400, code, message);

export const notFound = (path: string): TwilioError =>
  new TwilioError(404, 20404, `The requested resource ${path.replace(/^\/2010-04-01/, '')} was not found`);
