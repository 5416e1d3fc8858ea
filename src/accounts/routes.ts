import { createRouter } from '../http/router.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { memberRoutes } from './members/routes.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { sessionRoutes } from './sign-in/session-routes.ts';

/** What of accounts asks for credentials; signing in does not. */
export const accountRoutes = createRouter()
  .route('/', sessionRoutes)
  .route('/', organizationRoutes)
  .route('/', memberRoutes)
  .route('/', apiKeyRoutes);
