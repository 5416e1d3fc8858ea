import type { Check, Finding, Variables } from './send-request.ts';
import { createSendRequest } from './send-request.ts';

export interface Row {
  vendor: string;
  finding: Finding;
}

const secretNames = /KEY|TOKEN|SECRET/;

/** Asks every vendor that is configured, all at once. */
export function runChecks(checks: Check[], variables: Variables, fetch_?: typeof fetch): Promise<Row[]> {
  const secrets = Object.entries(variables).flatMap(([name, text]) => (secretNames.test(name) && text ? [text] : []));
  const ask = createSendRequest(secrets, fetch_);
  return Promise.all(
    checks.map(async ({ vendor, needs, run }): Promise<Row> => {
      const missing = needs.filter((name) => !variables[name]);
      if (missing.length > 0) return { vendor, finding: { state: 'not configured', next: `set ${missing.join(', ')} to check it` } };
      const finding = await run(variables, ask).catch((error: Error): Finding => ({
        state: 'refused',
        saw: error.message,
        next: 'check its address and the network',
      }));
      return { vendor, finding };
    }),
  );
}

/** One table; a second line for what is to be done. */
export function formatTable(rows: Row[]): string {
  const width = Math.max(...rows.map(({ vendor }) => vendor.length));
  return rows
    .flatMap(({ vendor, finding }) => {
      const head = `${vendor.padEnd(width)}  ${finding.state.padEnd('not configured'.length)}  `;
      const indent = ' '.repeat(head.length);
      if (finding.state === 'ok') return [head + finding.saw];
      if (finding.state === 'not configured') return [head + finding.next];
      return [head + finding.saw, `${indent}next: ${finding.next}`];
    })
    .join('\n');
}

export const hasRefusal = (rows: Row[]): boolean => rows.some(({ finding }) => finding.state === 'refused');
