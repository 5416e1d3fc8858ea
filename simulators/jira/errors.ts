/** A refusal as the product words it, `{ errorMessages, errors }`, or as the gateway before it does, `{ code, message }`. */
export class JiraError extends Error {
  readonly status: number;
  readonly body: object;

  constructor(status: number, errorMessages: string[], errors: Record<string, string> = {}, body: object = { errorMessages, errors }) {
    super(JSON.stringify(body));
    this.status = status;
    this.body = body;
  }

  static ofGateway(code: number, message: string): JiraError {
    return new JiraError(code, [], {}, { code, message });
  }

  get response(): Response {
    return Response.json(this.body, { status: this.status });
  }
}
