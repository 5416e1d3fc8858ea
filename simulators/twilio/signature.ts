import { createHmac } from 'node:crypto';

/** X-Twilio-Signature of a request to `url` with form parameters. */
export function sign(authToken: string, url: string, parameters: Iterable<[string, string]> = []): string {
  const sorted = [...parameters].toSorted(([name, value], [otherName, otherValue]) => order(name, otherName) || order(value, otherValue));
  const text = new Set(sorted.map(([name, value]) => name + value));
  return createHmac('sha1', authToken)
    .update(url + [...text].join(''))
    .digest('base64');
}

const order = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
