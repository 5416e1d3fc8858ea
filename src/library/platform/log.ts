export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Record<string, unknown>;

const rank: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Writes one JSON object a line. Fields hold ids and counts, never bodies, credentials or personal data. */
export class Logger {
  readonly #level: LogLevel;
  readonly #fields: LogFields;

  constructor(level: LogLevel, fields: LogFields = {}) {
    this.#level = level;
    this.#fields = fields;
  }

  with(fields: LogFields): Logger {
    return new Logger(this.#level, { ...this.#fields, ...fields });
  }

  debug = (message: string, fields?: LogFields) => this.#write('debug', message, fields);
  info = (message: string, fields?: LogFields) => this.#write('info', message, fields);
  warn = (message: string, fields?: LogFields) => this.#write('warn', message, fields);
  error = (message: string, error: unknown, fields?: LogFields) =>
    this.#write('error', message, {
      ...fields,
      error: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
      stack: stackOf(error),
    });

  #write(level: LogLevel, message: string, fields?: LogFields): void {
    if (rank[level] < rank[this.#level]) return;
    console.log(JSON.stringify({ at: new Date().toISOString(), level, message, ...this.#fields, ...fields }));
  }
}

const stackOf = (error: unknown) =>
  error instanceof Error
    ? error.stack
        ?.split('\n')
        .slice(1, 6)
        .map((line) => line.trim())
    : undefined;
