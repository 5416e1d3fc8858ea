const longestKeyPart = 100;

/** The name of the file itself, whatever folders it came with; null when none is left. */
export function filenameIn(text: string): string | null {
  const name = text.split(/[\\/]/).findLast((part) => part.trim() !== '') ?? '';
  return /[^.\s]/.test(name) ? name.trim() : null;
}

/** The name in a storage key: letters, digits and signs that nothing reads as a path. The extension stays. */
export function safeName(filename: string): string {
  const plain = filename
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '_')
    .replace(/\.{2,}/g, '.')
    .replace(/^[._-]+/, '');
  const characters = [...plain];
  return (
    (characters.length > longestKeyPart
      ? characters
          .slice(-longestKeyPart)
          .join('')
          .replace(/^[._-]+/, '')
      : plain) || 'document'
  );
}
