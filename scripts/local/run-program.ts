import { LocalError } from './settings.ts';

/** Runs a command-line program: a `LocalError` is a line on stderr and exit code 1, anything else a crash with its stack. */
export async function runProgram(program: () => Promise<void> | void): Promise<void> {
  try {
    await program();
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
