import { stripVTControlCharacters } from 'node:util';

const noise = [
  /^\[wrangler:info\] /,
  /^⎔ /,
  /^\[custom build\] Running: /,
  /^Using secrets defined in /,
  /^(Your Worker|[\w-]+) has access to the following bindings:/,
  /^Service bindings, Durable Object bindings, and Tail consumers connect to other/,
  /^Binding\s+Resource/,
  /^Attaching additional modules:/,
  /^[┌├└│]/,
  /^env\.\S+/,
  /^Unable to fetch the `Request\.cf` object/,
  /^\s*⛅️? wrangler /,
  /^─+$/,
  /^❓ Your types might be out of date/,
  /^\(node:\d+\) .*Warning/,
];

/** First lines of warnings that do not concern someone who only runs the service. Their explanation, up to the next line that is not indented, goes too. */
const needlessWarnings = [
  /Scheduled Workers are not automatically triggered/,
  /Unable to fetch the `Request\.cf` object/,
  /update available/i,
  /Vectorize Index bindings do not support local development/,
  /deprecat/i,
];

/** Sorts the lines of one output stream of `wrangler dev`: the service's own lines and errors are kept, wrangler's chatter is not. */
export class WranglerOutput {
  #isInNeedlessWarning = false;

  /** The line to show, without colours, or undefined when it says nothing about the service. */
  filter(rawLine: string): string | undefined {
    const line = stripVTControlCharacters(rawLine).trimEnd();
    if (line === '' || (this.#isInNeedlessWarning && line.startsWith(' '))) return undefined;
    this.#isInNeedlessWarning = line.includes('[WARNING]') && needlessWarnings.some((pattern) => pattern.test(line));
    return this.#isInNeedlessWarning || noise.some((pattern) => pattern.test(line)) ? undefined : line;
  }
}

/** Whether the line is an error of wrangler's or the Worker's. One that comes before the service is up usually means that it never will be. */
export const isError = (line: string) => line.startsWith('✘ [ERROR]');
