import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  isTwilioSimulated,
  portVariables,
  projectDirectory,
  readLocalSettings,
  simulatedAuthConfigs,
} from '../../scripts/local/settings.ts';
import { developmentArguments } from '../../scripts/local/wrangler.ts';

test('without variables the service is on 8787, the simulators on 8788, the state where wrangler dev has it', () => {
  const standard = { port: 8787, simulatorsPort: 8788, stateDirectory: join(projectDirectory, '.wrangler/state') };
  expect(readLocalSettings({})).toEqual(standard);
  expect(readLocalSettings({ PORT: '', SIM_PORT: '', STATE_DIR: '' })).toEqual(standard);
});

test('PORT, SIM_PORT and STATE_DIR are honoured', () => {
  expect(readLocalSettings({ PORT: '9001', SIM_PORT: '9002', STATE_DIR: '/somewhere/else' })).toEqual({
    port: 9001,
    simulatorsPort: 9002,
    stateDirectory: '/somewhere/else',
  });
  expect(readLocalSettings({ STATE_DIR: 'other' }).stateDirectory).toBe(join(projectDirectory, 'other'));
});

test('what is no port is refused by the name of its variable', () => {
  for (const value of ['abc', '0', '65536', '-1', '80.5', '8e3', ' 80']) {
    expect(() => readLocalSettings({ PORT: value })).toThrow(`PORT is "${value}"`);
    expect(() => readLocalSettings({ SIM_PORT: value })).toThrow(`SIM_PORT is "${value}"`);
  }
  expect(() => readLocalSettings({ PORT: '9000', SIM_PORT: '9000' })).toThrow('PORT and SIM_PORT are both 9000');
});

test('the Worker learns the addresses that follow from the ports, unless .dev.vars gives others', () => {
  const settings = readLocalSettings({ PORT: '9001', SIM_PORT: '9002' });
  expect(portVariables(settings, new Set())).toEqual({
    PUBLIC_URL: 'http://127.0.0.1:9001',
    CALLS_AT_ONCE: '100',
    ALLOWED_PRIVATE_ORIGINS: 'http://127.0.0.1:9002,http://localhost:9002',
    TWILIO_BASE_URL: 'http://127.0.0.1:9002/twilio',
    TWILIO_CONTENT_BASE_URL: 'http://127.0.0.1:9002/twilio/content',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9002/anthropic',
    TELNYX_BASE_URL: 'http://127.0.0.1:9002/telnyx/v2',
    META_BASE_URL: 'http://127.0.0.1:9002/meta/v25.0',
    GUPSHUP_BASE_URL: 'http://127.0.0.1:9002/gupshup',
    OPENAI_API_KEY: 'local-simulator',
    OPENAI_BASE_URL: 'http://127.0.0.1:9002/openai/v1',
    COMPOSIO_API_KEY: 'local-simulator',
    COMPOSIO_BASE_URL: 'http://127.0.0.1:9002/composio/api/v3.1',
    COMPOSIO_AUTH_CONFIGS: simulatedAuthConfigs,
  });
  const left = portVariables(
    settings,
    new Set([
      'PUBLIC_URL',
      'OPENAI_API_KEY',
      'COMPOSIO_API_KEY',
      'TWILIO_BASE_URL',
      'ANTHROPIC_BASE_URL',
      'TELNYX_BASE_URL',
      'META_BASE_URL',
      'GUPSHUP_BASE_URL',
    ]),
  );
  expect(Object.keys(left)).toEqual(['CALLS_AT_ONCE', 'ALLOWED_PRIVATE_ORIGINS']);
  expect(developmentArguments(settings, left).join(' ')).toContain('--port 9001 --persist-to');
  expect(developmentArguments(settings, left).slice(-2)).toEqual([
    '--var',
    'ALLOWED_PRIVATE_ORIGINS:http://127.0.0.1:9002,http://localhost:9002',
  ]);
});

test('a real key never goes to the simulators, and their key never goes to an address of yours', () => {
  const settings = readLocalSettings({});
  for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL'])
    expect(Object.keys(portVariables(settings, new Set([name]))).filter((set) => set.startsWith('OPENAI'))).toEqual([]);
  for (const name of ['COMPOSIO_API_KEY', 'COMPOSIO_BASE_URL', 'COMPOSIO_AUTH_CONFIGS'])
    expect(Object.keys(portVariables(settings, new Set([name]))).filter((set) => set.startsWith('COMPOSIO'))).toEqual([]);
});

test('each carrier is simulated unless .dev.vars names an address of it', () => {
  const settings = readLocalSettings({ SIM_PORT: '9002' });
  const carriersOf = (alreadySet: Set<string>) => {
    const { TWILIO_BASE_URL, TELNYX_BASE_URL } = portVariables(settings, alreadySet);
    return [isTwilioSimulated(alreadySet), TWILIO_BASE_URL, TELNYX_BASE_URL];
  };
  expect(carriersOf(new Set())).toEqual([true, 'http://127.0.0.1:9002/twilio', 'http://127.0.0.1:9002/telnyx/v2']);
  expect(carriersOf(new Set(['TWILIO_BASE_URL']))).toEqual([false, undefined, 'http://127.0.0.1:9002/telnyx/v2']);
  expect(carriersOf(new Set(['TELNYX_BASE_URL']))).toEqual([true, 'http://127.0.0.1:9002/twilio', undefined]);
});

test('the two addresses of Twilio are simulated together or not at all', () => {
  const settings = readLocalSettings({});
  for (const name of ['TWILIO_BASE_URL', 'TWILIO_CONTENT_BASE_URL']) {
    const alreadySet = new Set([name]);
    expect(isTwilioSimulated(alreadySet)).toBe(false);
    expect(Object.keys(portVariables(settings, alreadySet)).filter((set) => set.startsWith('TWILIO'))).toEqual([]);
  }
});
