import process from 'node:process';

/**
 * Imported, or preloaded into a child (`node --import`): ends a process whose parent has died, by the signal that the parent can no longer send.
 * Otherwise a killed `npm start` would leave a service on the state folder that the next one uses.
 */
const parent = process.ppid;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
}, 500).unref();
