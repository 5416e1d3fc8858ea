type Inline = { type: 'text'; text: string } | { type: 'hardBreak' };

export interface AtlassianDocument {
  type: 'doc';
  version: 1;
  content: { type: 'paragraph'; content: Inline[] }[];
}

/** Jira's limit for a description, in characters. */
const maxTextLength = 32_767;

/**
 * Plain text as the Atlassian Document Format, which has no empty text nodes: blank lines separate paragraphs, other line ends are breaks
 * (https://developer.atlassian.com/cloud/jira/platform/apis/document/structure).
 */
export function toAtlassianDocument(text: string): AtlassianDocument {
  const paragraphs = text
    .slice(0, maxTextLength)
    .split(/(?:\r?\n[ \t]*){2,}/)
    .map((paragraph) => paragraph.split(/\r?\n/).flatMap((line, index) => toInlineNodes(line, index)))
    .filter((content) => content.some(({ type }) => type === 'text'));
  return { type: 'doc', version: 1, content: paragraphs.map((content) => ({ type: 'paragraph', content })) };
}

function toInlineNodes(line: string, index: number): Inline[] {
  const words: Inline[] = line === '' ? [] : [{ type: 'text', text: line }];
  return index === 0 ? words : [{ type: 'hardBreak' }, ...words];
}
