import { Service } from '../../scripts/tour/service.ts';
import { StepResultStore, type Tour } from '../../scripts/tour/step.ts';

export const tourBase = 'http://service.test/api/v1';

/** A tour at a service that answers each operation with the next of its answers, and the last one from then on. */
export function tourAt(answers: Record<string, unknown[]>): { tour: Tour; said: string[]; asked: [string, any][] } {
  const said: string[] = [];
  const asked: [string, any][] = [];
  const service = new Service(tourBase, 'key', async (input, init) => {
    const operation = `${init?.method} ${String(input).replace(tourBase, '').split('?')[0]}`;
    asked.push([operation, /^[[{]/.test(String(init?.body)) ? JSON.parse(String(init?.body)) : init?.body]);
    const left = answers[operation];
    if (!left) return Response.json({ detail: `nobody asks for ${operation}` }, { status: 404 });
    return Response.json(left.length > 1 ? left.shift() : left[0]);
  });
  const terminal = { line: (line: string) => said.push(line), begin: (line: string) => said.push(line), end: () => {} };
  const tour = {
    service,
    baseUrl: tourBase,
    terminal,
    say: (line: string) => said.push(line),
    stamp: 'now',
    notes: new StepResultStore(),
  } as unknown as Tour;
  return { tour, said, asked };
}
