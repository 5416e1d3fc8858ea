const writePattern = /^\s*(INSERT|UPDATE|DELETE|REPLACE|WITH\b[^;]*\)\s*(INSERT|UPDATE|DELETE))\b/i;

/** Whether a statement writes. */
export const isWriteSql = (sql: string): boolean => writePattern.test(sql);
