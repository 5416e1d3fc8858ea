const optOutPattern = /^(?:do[\s_-]?not[\s_-]?call|dnc|opt(?:ed)?[\s_-]?out|unsubscribe)$/i;

/** Whether the disposition or a tag of a conversation says that the person does not want to be called again. */
export const isOptOut = ({ disposition, tags }: { disposition: string | null; tags: readonly string[] }): boolean =>
  [disposition ?? '', ...tags].some((word) => optOutPattern.test(word.trim()));
