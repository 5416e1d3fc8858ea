const toWordSet = (text: string) => new Set(text.split(' '));

/** Elements whose text is not shown. */
const skippedElements = toWordSet(
  'script style noscript template svg iframe object embed video audio canvas select textarea button nav map datalist',
);

/** Block elements: each begins and ends a line. */
export const blockElements = toWordSet(
  'p div section article main header footer aside ul ol li dl dt dd blockquote pre figure figcaption form fieldset legend address details summary hr center body html head h1 h2 h3 h4 h5 h6 table caption thead tbody tfoot tr td th',
);

export const boldElements = toWordSet('b strong');

export function isSkipped(name: string, attributes: Record<string, string>): boolean {
  return (
    skippedElements.has(name) ||
    attributes['hidden'] !== undefined ||
    attributes['aria-hidden'] === 'true' ||
    attributes['role'] === 'navigation' ||
    /display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all/i.test(attributes['style'] ?? '') ||
    // Arrows that link a footnote back to its reference.
    (name === 'a' && /^#(?:foot|end)note-ref/.test(attributes['href'] ?? ''))
  );
}
