import { createArea } from '../http/area.ts';
import { apiKeyRoutes } from './api-key-routes.ts';
import { memberRoutes } from './member-routes.ts';
import { organizationRoutes } from './organization-routes.ts';
import { sessionRoutes } from './session-routes.ts';

/** What of accounts asks for credentials; signing in does not. */
export const accountRoutes = createArea()
  .route('/', sessionRoutes)
  .route('/', organizationRoutes)
  .route('/', memberRoutes)
  .route('/', apiKeyRoutes);
