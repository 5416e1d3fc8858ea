import { writePerformancePage } from './charts/write-page.ts';

writePerformancePage();
