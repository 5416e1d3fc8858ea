/** Says what happens, with the seconds since it began. */
export function narration(): (text: string) => void {
  const startedAt = Date.now();
  return (text) => process.stdout.write(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${text}\n`);
}
