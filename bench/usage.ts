/** What is billed beside D1, counted by the recording service. */
export interface Usage {
  workerRequests: number;
  queueMessages: number;
  /** Objects written to R2, and lists of them, which cost the same. */
  filesWritten: number;
  filesRead: number;
  /** Calls of objects' methods. */
  objectCalls: number;
  /** Frames that sockets delivered to objects; twenty are billed as one call. */
  socketFrames: number;
  alarmsFired: number;
  /** Each is billed as one row written. */
  alarmsSet: number;
  objectRowsRead: number;
  objectRowsWritten: number;
  /** Wall time in which objects had something to do; what one does at the same time counts once. */
  objectMs: number;
}

export const noUsage = (): Usage => ({
  workerRequests: 0,
  queueMessages: 0,
  filesWritten: 0,
  filesRead: 0,
  objectCalls: 0,
  socketFrames: 0,
  alarmsFired: 0,
  alarmsSet: 0,
  objectRowsRead: 0,
  objectRowsWritten: 0,
  objectMs: 0,
});
