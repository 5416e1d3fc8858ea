import { join } from 'node:path';
import { writeConfigVariant } from './config-variant.ts';
import { projectDirectory } from './settings.ts';

/** The Worker that plays Vectorize, to be started beside the service. */
export const simulatedVectorizeConfig = join(projectDirectory, 'simulators', 'vectorize', 'wrangler.toml');

const binding = /\n\[\[vectorize\]\]\nbinding = "VECTORS"\nindex_name = "[\w-]+"\n/;

/** `wrangler.toml` with the simulated index in the place of the bound one: a service with the same methods. */
export function withSimulatedVectorize(text: string): string {
  if (!binding.test(text)) throw new Error('wrangler.toml has no [[vectorize]] with the binding VECTORS and an index_name');
  return text.replace(binding, '\n[[services]]\nbinding = "VECTORS"\nservice = "simulated-vectorize"\nentrypoint = "SimulatedVectorize"\n');
}

/** Writes that file, and answers its path. */
export const writeSimulatedConfig = (change = (text: string) => text): string =>
  writeConfigVariant('simulated', (text) => change(withSimulatedVectorize(text)));
