/** What a model takes as the name of a function (https://platform.openai.com/docs/api-reference/chat/create). */
export const toolNamePattern = /^[A-Za-z0-9_-]{1,64}$/;

export const endCallTool = 'end_call';
export const knowledgeTool = 'search_knowledge_base';

/**
 * The name of the tool that follows an edge: "Not interested!" is `not_interested`. Empty when the label has neither Latin letters nor digits.
 */
export const toToolName = (label: string): string =>
  label
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
