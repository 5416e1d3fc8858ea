import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const program = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Why the browser tests cannot run here; undefined when they can. In CI a missing browser fails the tests. */
export const noBrowser: string | undefined =
  existsSync(program) || process.env['CI'] ? undefined : `There is no ${program}: install Debian's chromium, or name another by CHROMIUM`;

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: program,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
