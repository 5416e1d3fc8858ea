const maxKeyPartLength = 100;

/** The name of the file itself, whatever folders it came with; null when none is left. */
export function extractFilename(text: string): string | null {
  const name = text.split(/[\\/]/).findLast((part) => part.trim() !== '') ?? '';
  return /[^.\s]/.test(name) ? name.trim() : null;
}

/** The name in a storage key: letters, digits and signs that nothing reads as a path. The extension stays. */
export function toSafeName(filename: string): string {
  const plain = filename
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '_')
    .replace(/\.{2,}/g, '.')
    .replace(/^[._-]+/, '');
  const characters = [...plain];
  return (
    (characters.length > maxKeyPartLength
      ? characters
          .slice(-maxKeyPartLength)
          .join('')
          .replace(/^[._-]+/, '')
      : plain) || 'document'
  );
}
