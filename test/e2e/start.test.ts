import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Service } from './service.ts';

const script = (name: string) => join(import.meta.dirname, '../../scripts', name);
const run = promisify(execFile);

test('npm start prints an address, a key and curl lines that work when pasted, and ends cleanly', async () => {
  const service = await Service.create();
  try {
    await service.start();
    const { base_url, api_key } = await service.credentials();
    expect(service.output).toContain(base_url);
    expect(service.output).toContain(api_key);
    expect(service.output).toMatch(/\/docs/);
    const lines = service.output.split('\n').map((line) => line.trim());
    const commands = lines.filter((line) => line.startsWith('curl '));
    expect(commands).toHaveLength(3);
    for (const command of commands) {
      const { stdout } = await run('sh', ['-c', command.replace('curl ', 'curl -sS --fail ')]);
      expect(() => JSON.parse(stdout), stdout).not.toThrow();
    }
    const docs = await fetch(`http://127.0.0.1:${service.port}/docs`);
    expect(await docs.text()).toContain('contacts.upsert');
    const environment = {
      ...process.env,
      PORT: String(service.port),
      SIM_PORT: String(service.simulatorsPort),
      STATE_DIR: service.stateDirectory,
    };
    const { stdout } = await run(process.execPath, [script('credentials.ts')], { env: environment });
    expect(JSON.parse(stdout)).toEqual({ base_url, api_key, simulators_url: service.simulators });

    await service.stop();
    await service.start();
    expect((await service.credentials()).api_key).toBe(api_key);
    expect((await service.call('GET', '/contacts')).body.total).toBeGreaterThan(0);
  } finally {
    await service.remove();
  }
});

test('a taken port is a clear error that names the variable to set', async () => {
  const service = await Service.create();
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(service.port, '127.0.0.1', resolve));
  try {
    await expect(service.start()).rejects.toThrow(new RegExp(`${service.port}[\\s\\S]*PORT`));
  } finally {
    holder.close();
    await service.remove();
  }
});
