import { commonPasswords } from './common-passwords.ts';

/** How many characters a password must have besides a name. */
const minLengthBesideName = 6;
/** Shorter names are part of too many words. */
const minNameLength = 4;

/** Why a password is easily guessed, with the next step; null when it is not. NIST SP 800-63B asks for a blocklist, and for no rules of composition. */
export function findPasswordWeakness(password: string, names: (string | null | undefined)[]): string | null {
  const written = password.normalize('NFKC').toLowerCase();
  if (isCommon(written)) return 'Is among the passwords that are tried first; choose a few words that do not belong together';
  if (isPattern(written)) return 'Repeats itself or counts up or down; choose a few words that do not belong together';
  const name = names.flatMap((text) => toNameParts(text ?? '')).find((word) => isMostlyName(keepLettersAndDigits(written), word));
  return name === undefined ? null : 'Is hardly more than the e-mail address or a name; choose words that have nothing to do with them';
}

/** Whether the password is on the list of common ones, also with digits and signs around it, or with digits in place of letters. */
function isCommon(written: string): boolean {
  const variants = [written, stripOuterNonLetters(written)];
  return [...variants, ...variants.map(undoSubstitutions), stripOuterNonLetters(undoSubstitutions(written))].some((text) =>
    commonPasswords.has(text),
  );
}

const letterSubstitutions: Record<string, string> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', '@': 'a', $: 's' };
const undoSubstitutions = (text: string): string => text.replaceAll(/[013457@$]/g, (sign) => letterSubstitutions[sign]!);
const stripOuterNonLetters = (text: string): string => text.replaceAll(/^[^a-z]+|[^a-z]+$/g, '');

/** Whether the password repeats one piece, or is a row of characters that follow each other by one step, such as `abcdef`. */
function isPattern(written: string): boolean {
  const repeats = (length: number) =>
    written ===
    written
      .slice(0, length)
      .repeat(Math.ceil(written.length / length))
      .slice(0, written.length);
  if ([1, 2, 3, 4, 5, 6, 7, 8].some((length) => length * 2 <= written.length && repeats(length))) return true;
  const steps = Array.from({ length: written.length - 1 }, (_, index) => written.charCodeAt(index + 1) - written.charCodeAt(index));
  return steps.filter((step) => Math.abs(step) <= 1).length >= steps.length - 2;
}

/** The whole name; of an e-mail address also the part before the @ and the domain's name. */
function toNameParts(name: string): string[] {
  const lower = name.normalize('NFKC').toLowerCase();
  const [local, domain] = lower.split('@');
  return [lower, local!, domain?.split('.')[0] ?? ''].map(keepLettersAndDigits).filter((word) => word.length >= minNameLength);
}

const keepLettersAndDigits = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '');
const isMostlyName = (password: string, word: string): boolean =>
  password.includes(word) && password.length - word.length < minLengthBesideName;
