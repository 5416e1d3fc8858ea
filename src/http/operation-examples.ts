/** A request that works after the requests before it in the document, and its answer. */
interface OperationExample {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean>;
  /** JSON, or the text of another content type. */
  body?: unknown;
  /** The answer of success: JSON, or text. */
  answer?: unknown;
}

/** One of several examples of an operation. */
export interface NamedExample extends OperationExample {
  /** Letters and digits. */
  name: string;
  summary?: string;
}

/** The examples by operationId. */
export type ExamplesByOperation = Record<string, OperationExample | NamedExample[]>;
