const toWordSet = (text: string) => new Set(text.split(' '));

/** Elements whose text no page shows. */
const unshownElements = toWordSet('script style noscript template iframe object embed video audio canvas map datalist rp');
const menuElements = toWordSet('nav option');
const questionAttributes = ['aria-expanded', 'aria-controls'];

/** Block elements: each begins and ends a line. */
export const blockElements = toWordSet(
  'p div section article main header footer aside ul ol li dl dt dd blockquote pre figure figcaption form fieldset legend address details summary hr center body html head h1 h2 h3 h4 h5 h6 table caption thead tbody tfoot tr td th',
);

export const boldElements = toWordSet('b strong');

/** Why the text of an element is left out: nobody sees it, it is hidden, it leads elsewhere or takes input, it is the reading of a sign, or a drawing. */
export type Skipped = 'unshown' | 'hidden' | 'control' | 'reading' | 'drawing';

/** `isInHeading`: the element stands in a heading. Undefined: its text is read. */
export function whySkipped(name: string, attributes: Record<string, string>, isInHeading: boolean): Skipped | undefined {
  if (unshownElements.has(name) || isBackLink(name, attributes) || (name === 'input' && attributes['type'] === 'hidden')) return 'unshown';
  if (isHidden(attributes)) return 'hidden';
  if (name === 'rt') return 'reading';
  if (name === 'svg') return 'drawing';
  if (name === 'option' && attributes['selected'] !== undefined) return undefined;
  if (menuElements.has(name) || attributes['role'] === 'navigation') return 'control';
  return name === 'button' && !isInHeading && !questionAttributes.some((one) => attributes[one] !== undefined) ? 'control' : undefined;
}

const isHidden = (attributes: Record<string, string>): boolean =>
  attributes['hidden'] !== undefined ||
  attributes['aria-hidden'] === 'true' ||
  /display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all/i.test(attributes['style'] ?? '');

/** Arrows that link a footnote back to its reference. */
const isBackLink = (name: string, attributes: Record<string, string>): boolean =>
  name === 'a' && /^#(?:foot|end)note-ref/.test(attributes['href'] ?? '');

const buttonTypes = toWordSet('submit button reset image');
const checked = '\u2611';
const unchecked = '\u2610';

/** What an `input` shows: its value, or a box. Null: a button. */
export function shownInput({ type = 'text', value = '', ...attributes }: Record<string, string>): string | null {
  const kind = type.toLowerCase();
  if (kind === 'checkbox' || kind === 'radio') return attributes['checked'] === undefined ? unchecked : checked;
  if (kind === 'password') return '';
  return buttonTypes.has(kind) ? null : value;
}
