const unusableId = /^(?:n\/?a|none|null|nil|undefined|-+|\?+|#n\/a|#ref!|#value!|\d(?:[.,]\d+)?e\+\d+)$/i;

/** Whether an id tells people apart: a placeholder (`n/a`) and a number that a spreadsheet has rounded (`9.1E+11`) do not. */
export const isUsableId = (value: string): boolean => !unusableId.test(value);
