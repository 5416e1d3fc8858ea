import { Hono } from 'hono';
import { GoogleError } from './google/errors.ts';
import { driveRoutes } from './google-sheets/drive.ts';
import { seedFiles } from './google-sheets/seed.ts';
import { spreadsheetRoutes } from './google-sheets/spreadsheets.ts';
import { createPerCustomer } from './grants.ts';
import type { Vendor, VendorBindings } from './vendor.ts';

/** The spreadsheets of Google: the Sheets API 4 under `/v4/spreadsheets`, and of Drive's API 3 what finds them under `/drive/v3/files`. */
export const googleSheets: Vendor = {
  name: 'googlesheets',
  createRoutes: () => {
    const filesOf = createPerCustomer(seedFiles);
    const routes = new Hono<{ Bindings: VendorBindings }>();
    routes.route('/v4/spreadsheets', spreadsheetRoutes(filesOf));
    routes.route('/drive/v3/files', driveRoutes(filesOf));
    routes.notFound(() => new GoogleError(404, 'Requested entity was not found.').response);
    routes.onError((error) => {
      if (error instanceof GoogleError) return error.response;
      throw error;
    });
    return routes;
  },
};
