/** A refusal as the vendor words it: `{ code, message }` with a number of its own. */
export class ZohoError extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  static invalid(field: string): ZohoError {
    return new ZohoError(400, 4, `Invalid value passed for ${field}`);
  }

  static noSuchContact(): ZohoError {
    return new ZohoError(404, 1002, 'Contact does not exist.');
  }

  get response(): Response {
    return Response.json({ code: this.code, message: this.message }, { status: this.status });
  }
}
