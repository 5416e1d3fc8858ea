const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text as it may stand in an element or a quoted attribute. */
export const escape = (text) => String(text).replaceAll(/[&<>"']/g, (character) => entities[character]);

const inline = (text) =>
  escape(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');

/** A line of a description: `code` and **bold**. */
export const line = (text) => inline(text ?? '');

/** A description: paragraphs and lists with "- ". */
export function prose(text) {
  return (text ?? '')
    .split(/\n{2,}/)
    .filter(Boolean)
    .map((part) => {
      const lines = part.split('\n');
      if (lines.every((one) => one.startsWith('- '))) return `<ul>${lines.map((one) => `<li>${inline(one.slice(2))}</li>`).join('')}</ul>`;
      return `<p>${lines.map(inline).join('<br>')}</p>`;
    })
    .join('');
}

/** An attribute of JSON. */
export const json = (value) => escape(JSON.stringify(value));

export const pretty = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
