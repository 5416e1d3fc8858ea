/** The names that `TextDecoder` gives the encodings in which a file may be named to be: all of the Encoding Standard but those without an own text. */
const unusable = new Set(['replacement', 'x-user-defined']);

/** The name of an encoding by any of its labels (`latin1` is `windows-1252`); null: there is none. */
export function toEncodingName(label: string): string | null {
  try {
    const { encoding } = new TextDecoder(label.trim().toLowerCase());
    return unusable.has(encoding) ? null : encoding;
  } catch {
    return null;
  }
}
