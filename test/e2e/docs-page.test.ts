import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import document from '../../openapi.json' with { type: 'json' };
import { noBrowser, openBrowser } from './browser.ts';
import { Service } from './service.ts';

const operationIds = Object.values<Record<string, any>>(document.paths).flatMap((methods) =>
  Object.values(methods).map((operation) => operation.operationId as string),
);

if (noBrowser) console.warn(`The page at /docs is not tried. ${noBrowser}`);

describe.skipIf(noBrowser !== undefined)('the page at /docs, in a real browser', () => {
  let service: Service;
  let browser: Browser;
  let key: string;
  const asked: string[] = [];
  const violations: string[] = [];

  beforeAll(async () => {
    service = await Service.create();
    await service.start();
    key = (await service.credentials()).api_key;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.remove();
  });

  async function open(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    page.on('request', (request) => asked.push(request.url()));
    page.on('pageerror', (error) => {
      throw error;
    });
    page.on('console', (message) => {
      if (/Content.Security.Policy/i.test(message.text())) violations.push(message.text());
    });
    const answer = await page.goto(`http://127.0.0.1:${service.port}/docs/`);
    // The browser refuses scripts from elsewhere and inline scripts, and the test would record a violation.
    expect(answer?.headers()['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    return page;
  }

  const answerOf = (page: Page, id: string) => page.locator(`[id="${id}"] .answer > p`);

  async function send(page: Page, id: string): Promise<string> {
    const operation = page.locator(`[id="${id}"]`);
    if ((await operation.getAttribute('open')) === null) await operation.locator(':scope > summary').click();
    await operation.locator('button[type=submit]').click();
    await answerOf(page, id).waitFor();
    return (await answerOf(page, id).textContent())!;
  }

  test('takes a pasted key into its first field, keeps it over a reload, forgets it on demand, and says so', async () => {
    const page = await open();
    const first = page.locator('input, textarea, select').first();
    expect(await first.getAttribute('id')).toBe('key');
    await page.getByText('localStorage').waitFor();
    expect(await send(page, 'contacts.list')).toMatch(/^401/);
    await first.focus();
    await page.keyboard.insertText(key);
    await page.getByText('The key works, for Demo Organization.').waitFor();
    expect(await send(page, 'agents.list')).toMatch(/^200/);
    await page.reload();
    await page.getByText('The key works, for Demo Organization.').waitFor();
    expect(await send(page, 'contacts.list')).toMatch(/^200/);
    await page.getByRole('button', { name: 'Forget the key' }).click();
    await page.reload();
    expect(await page.locator('#key').inputValue()).toBe('');
    expect(await send(page, 'contacts.list')).toMatch(/^401/);
  });

  test('says that a wrong key does not work', async () => {
    const page = await open();
    await page.locator('#key').fill('vaa_wrong');
    await page.locator('#key-state.bad').waitFor();
    expect(await page.locator('#key-state').textContent()).toMatch(/^The key does not work/);
  });

  test("lets the browser's search find each operation", async () => {
    const page = await open();
    // `window.find` is the browser's search; TypeScript does not declare it.
    const missing = await page.evaluate(
      (ids: string[]) =>
        ids.filter((id) => {
          (globalThis as any).getSelection().removeAllRanges();
          return !(globalThis as any).find(id, true, false, true);
        }),
      operationIds,
    );
    expect(operationIds.length).toBeGreaterThan(100);
    expect(missing).toEqual([]);
    expect(await page.evaluate(() => (globalThis as any).find('no.suchOperation', true, false, true))).toBe(false);
  });

  test('folds its groups by keyboard alone', async () => {
    const page = await open();
    const group = page.locator('#group-contacts');
    const shown = () => page.locator('[id="contacts.upsert"]').isVisible();
    expect(await shown()).toBe(true);
    await group.locator(':scope > summary').focus();
    await page.keyboard.press('Enter');
    expect(await shown()).toBe(false);
    await page.keyboard.press('Enter');
    expect(await shown()).toBe(true);
    await page.locator('#fold-all').focus();
    await page.keyboard.press('Space');
    expect(await page.locator('details.group[open]').count()).toBe(0);
    await page.goto(`http://127.0.0.1:${service.port}/docs/#contacts.upsert`);
    expect(await shown()).toBe(true);
  });

  test('paints within a second', async () => {
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const page = await open();
      const paint = await page.evaluate(
        () =>
          new Promise<number>((resolve) => {
            new (globalThis as any).PerformanceObserver((list: any) =>
              resolve(list.getEntriesByName('first-contentful-paint')[0].startTime),
            ).observe({ type: 'paint', buffered: true });
          }),
      );
      times.push(Math.round(paint));
      await page.context().close();
    }
    console.log(`first contentful paint: ${times.join(', ')} ms`);
    expect(times.toSorted((one, other) => one - other)[2]).toBeLessThan(1000);
  });

  test('sends the values of its forms, and fills an id from an answer into later forms', async () => {
    const page = await open();
    await page.locator('#key').fill(key);
    const operation = page.locator('[id="contacts.upsert"]');
    await operation.locator(':scope > summary').click();
    await operation.locator('textarea').fill('{"list_name": "Page", "phone": "(415) 555-0177"}');
    expect(await send(page, 'contacts.upsert')).toMatch(/^200/);
    expect(await operation.locator('.answer pre').textContent()).toContain('"phone": "+14155550177"');
    const upload = page.locator('[id="campaigns.createUploadUrl"]');
    await upload.locator(':scope > summary').click();
    await upload.locator('textarea').fill('{"filename": "people.csv"}');
    expect(await send(page, 'campaigns.createUploadUrl')).toMatch(/^200/);
    const { source_id } = JSON.parse((await upload.locator('.answer pre').textContent())!);
    expect(await page.locator('[id="campaigns.upload.source_id"]').inputValue()).toBe(source_id);
    await page.locator('[id="campaigns.upload.body"]').evaluate((area: any) => (area.value = 'phone\n+14155550177\n'));
    expect(await send(page, 'campaigns.upload')).toMatch(/^200/);
  });

  test('is dark for readers who prefer dark, and sends requests to this service only', async () => {
    const colour = (page: Page) =>
      page.evaluate(() => (globalThis as any).getComputedStyle((globalThis as any).document.body).backgroundColor);
    const [light, dark] = [await colour(await open({ colorScheme: 'light' })), await colour(await open({ colorScheme: 'dark' }))];
    expect(light).toBe('rgb(255, 255, 255)');
    expect(dark).toBe('rgb(18, 22, 28)');
    expect(violations).toEqual([]);
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter((url) => !url.startsWith(`http://127.0.0.1:${service.port}/`))).toEqual([]);
  });
});
