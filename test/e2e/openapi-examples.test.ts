import { expect, test } from 'vitest';
import { ExampleRunner } from '../../scripts/examples/example-runner.ts';
import { Service } from './service.ts';

test(
  'each example of the OpenAPI document works unchanged, in the order of the document, on a fresh service',
  { timeout: 600_000 },
  async () => {
    const service = await Service.create();
    try {
      await service.start();
      const { api_key: key } = await service.credentials();
      const runner = new ExampleRunner({ origin: `http://127.0.0.1:${service.port}`, key });
      await runner.run();
      expect(runner.failures).toEqual([]);
      expect(runner.sent.length).toBeGreaterThan(150);
    } finally {
      await service.remove();
    }
  },
);
