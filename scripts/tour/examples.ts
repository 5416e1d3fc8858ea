import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../local/settings.ts';

/** The bytes of a file in `examples/`. */
export const readExampleBytes = (name: string): Uint8Array => readFileSync(join(projectDirectory, 'examples', name));

/** The text of a file in `examples/`. */
export const readExample = (name: string): string => readFileSync(join(projectDirectory, 'examples', name), 'utf8');
