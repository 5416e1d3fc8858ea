/**
 * Names a call within its run. The number is always there, since node ids may hold anything: without it the second call of the first
 * visit of `a` could be the first call of a node `a:1`.
 */
export const toCallItem = (nodeId: string, visit: number, number: number): string => `${nodeId}:${visit}:${number}`;
