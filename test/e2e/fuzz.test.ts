import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const program = join(import.meta.dirname, '../../scripts/fuzz.ts');

/** Another one each time would find more, and fail for reasons that no change has brought. */
const seed = 20261129;

test(
  '1,500 hostile requests over the OpenAPI document: no 500, no answer that is not JSON, no secret, none over 2 s, no crash',
  { timeout: 600_000 },
  async () => {
    const ended = promisify(execFile)(process.execPath, [program, '--requests', '1500', '--seed', String(seed)], {
      maxBuffer: 64 * 1024 * 1024,
    });
    const { stdout } = await ended.catch((failure: { stdout: string; stderr: string }) => failure);
    expect(stdout.trim().split('\n').at(-1), stdout.slice(-20_000)).toMatch(
      new RegExp(`^1500 requests of seed ${seed} in \\d+ s, 0 findings$`),
    );
    const statuses = Object.fromEntries([...stdout.matchAll(/\b(\d{3}): (\d+)/g)].map(([, status, count]) => [status, Number(count)]));
    // Requests that all end at the door would find nothing.
    expect(statuses['200']! + statuses['201']!, stdout).toBeGreaterThan(150);
    expect(statuses['422']!, stdout).toBeGreaterThan(300);
  },
);
