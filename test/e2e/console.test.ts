import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noBrowser, openBrowser } from './browser.ts';
import { Service } from './service.ts';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const hostile = '"><img src=x onerror="window.broken=1"><script>window.broken=1</script>';

if (noBrowser) console.warn(`The console is not tried. ${noBrowser}`);

describe.skipIf(noBrowser !== undefined)('the console, in a real browser', () => {
  let service: Service;
  let browser: Browser;
  let signedIn: BrowserContext;
  const violations: string[] = [];

  const origin = () => `http://127.0.0.1:${service.port}`;

  beforeAll(async () => {
    service = await Service.create();
    await service.start();
    browser = await openBrowser();
    signedIn = await newContext();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.remove();
  });

  async function newContext(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options });
    context.on('page', (page) => {
      page.on('pageerror', (error) => violations.push(String(error)));
      page.on('console', (message) => {
        if (/Content.Security.Policy/i.test(message.text())) violations.push(message.text());
      });
    });
    return context;
  }

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  async function expectAccessible(page: Page): Promise<void> {
    // Transitions show colors that are none of the page's.
    await page.waitForTimeout(400);
    await page.evaluate(await readAxe());
    const found = await page.evaluate(async () => {
      const { violations: all } = await (globalThis as any).axe.run((globalThis as any).document, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      });
      return all.map(({ id, nodes }: any) => `${id}: ${nodes.map(({ html }: any) => html).join(' | ')}`);
    });
    expect(found, page.url()).toEqual([]);
  }

  test('npm start prints a link that signs in once', async () => {
    const link = /Console +(\S+)/.exec(service.output)?.[1];
    expect(link).toContain('#sign-in=val_');
    const page = await signedIn.newPage();
    await page.goto(link!);
    await heading(page, 'Home');
    expect(page.url()).toBe(`${origin()}/`);
    await page.getByText('Nobody is being called.').waitFor();
    const again = await (await newContext()).newPage();
    await again.goto(link!);
    await again.getByText(/This link is unknown, used or older/).waitFor();
    await again.getByLabel('E-mail address').waitFor();
  });

  test('a wrong password is told in the words of the API, and the right one goes on to the page that was asked for', async () => {
    const { person } = (await service.credentials()) as unknown as { person: { email: string; password: string } };
    const page = await (await newContext()).newPage();
    await page.goto(`${origin()}/campaigns`);
    await page.getByLabel('E-mail address').fill(person.email);
    await page.getByLabel(/^Password/).fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel(/^Password/).fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading(page, 'Campaigns');
  });

  test('a campaign is found, opened, paused and resumed', async () => {
    const campaign = await newCampaign(hostile);
    const page = await signedIn.newPage();
    await page.goto(`${origin()}/campaigns`);
    await page.getByRole('link', { name: hostile }).click();
    await heading(page, hostile);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('cell', { name: '+12124561000' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect((await service.call('GET', `/campaign/${campaign}`)).body.state).toBe('paused');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect(await page.evaluate(() => (globalThis as any).broken)).toBeUndefined();
  });

  test.each([
    ['light', { width: 1280, height: 800 }],
    ['dark', { width: 1280, height: 800 }],
    ['light', { width: 390, height: 844 }],
  ] as const)('all pages are accessible: %s, %j', async (colorScheme, viewport) => {
    const context = await newContext({ colorScheme, viewport, storageState: await signedIn.storageState() });
    const page = await context.newPage();
    for (const [path, title] of [
      ['/', 'Home'],
      ['/campaigns', 'Campaigns'],
      ['/campaigns/1', hostile],
      ['/calls', 'Calls'],
    ] as const) {
      await page.goto(`${origin()}${path}`);
      await heading(page, title);
      await expectAccessible(page);
      const overflow = await page.evaluate(() => {
        const { documentElement } = (globalThis as any).document;
        return documentElement.scrollWidth - documentElement.clientWidth;
      });
      expect([path, overflow]).toEqual([path, 0]);
    }
    const stranger = await (await newContext({ colorScheme, viewport })).newPage();
    await stranger.goto(origin());
    await stranger.getByLabel('E-mail address').waitFor();
    await expectAccessible(stranger);
  });

  test('a session that ends in the middle of something asks to sign in again, and the page stays', async () => {
    const { person } = (await service.credentials()) as unknown as { person: { email: string; password: string } };
    const page = await (await newContext()).newPage();
    await page.goto(`${origin()}/campaigns`);
    await page.getByLabel('E-mail address').fill(person.email);
    await page.getByLabel(/^Password/).fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading(page, 'Campaigns');
    await page.context().clearCookies();
    await page.getByLabel('Search by name').fill('spring');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail address').fill(person.email);
    await dialog.getByLabel(/^Password/).fill(person.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('No campaign fits.').waitFor();
    expect(await page.getByLabel('Search by name').inputValue()).toBe('spring');
  });

  test('what is not there says so, and programs get what they got before', async () => {
    const page = await signedIn.newPage();
    await page.goto(`${origin()}/no-such-page`);
    await page.getByText('There is no such page.').waitFor();
    await page.goto(`${origin()}/campaigns/999999`);
    await page.getByRole('alert').waitFor();
    expect((await fetch(`${origin()}/no-such-page`)).status).toBe(404);
    expect(((await (await fetch(origin())).json()) as any).api).toBe(`${origin()}/api/v1`);
    expect((await fetch(`${origin()}/console/assets/no-such-file.js`)).status).toBe(404);
  });

  test('signing out ends the session, and nothing in any page broke the policy or the page', async () => {
    const page = await signedIn.newPage();
    await page.goto(origin());
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').waitFor();
    expect(violations).toEqual([]);
  });

  let axeSource: string | undefined;
  const readAxe = async () => (axeSource ??= await (await import('node:fs/promises')).readFile(axe, 'utf8'));

  /** A draft over 300 people, of whom one is called at a time, and its id. */
  async function newCampaign(name: string): Promise<number> {
    const agent = await service.call('POST', '/workflow/create/definition', {
      name: 'Caller',
      workflow_definition: {
        nodes: [
          { id: '1', type: 'startCall', position: { x: 0, y: 0 }, data: { name: 'Start', prompt: 'Greet the person and say goodbye.' } },
          { id: '2', type: 'endCall', position: { x: 0, y: 200 }, data: { name: 'End', prompt: 'Say goodbye.' } },
        ],
        edges: [{ id: 'e', source: '1', target: '2', data: { label: 'done', condition: 'The person was greeted.' } }],
      },
    });
    expect(agent.status, JSON.stringify(agent.body)).toBeLessThan(300);
    const ticket = await service.call('POST', '/campaign/upload-url', { filename: 'people.csv', content_type: 'text/csv' });
    const phones = Array.from({ length: 300 }, (_, index) => `+1212456${1000 + index}`);
    await fetch(ticket.body.upload_url, { method: 'PUT', body: `phone\n${phones.join('\n')}\n` });
    const campaign = await service.call('POST', '/campaign/create', {
      name,
      workflow_id: agent.body.id,
      source_type: 'csv',
      source_id: ticket.body.source_id,
      max_concurrency: 1,
    });
    expect(campaign.status, JSON.stringify(campaign.body)).toBeLessThan(300);
    return campaign.body.id;
  }
});
