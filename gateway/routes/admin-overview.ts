import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { REQUEST_STATUSES } from '../../shared/request-status.ts'
import { statusOf } from '../api/list-filters.ts'
import { responses } from '../api/openapi.ts'
import { limitOf } from '../api/pagination.ts'
import { WebhookDeliveryStatus } from '../api/schemas.ts'
import {
  AdminChangeList,
  AdminDeliveryList,
  AdminRequest,
  AdminRequestList,
  AdminUsage,
  allChanges,
  allDeliveries,
  allRequests,
  cancelForAccount,
  redeliverForAccount,
  usageOfAll,
  type OverviewDeps,
} from '../operations/all-accounts.ts'
import { AccountUsageDays, asksForCsv, usageByDay, usageCsv } from '../accounts/usage-days.ts'
import type { AccountDeps } from '../accounts/accounts.ts'
import type { CancelDeps } from '../requests/own-requests.ts'
import { DELIVERY_STATES } from '../store/schema/webhook-tables.ts'
import type { RedeliveryDeps } from '../webhooks/delivery-status.ts'
import { authoredBy, describe } from './admin.ts'
import { dayParameters, pageParameters, type RequestRoute } from './common.ts'

interface ListQuery {
  Querystring: {
    limit?: unknown
    cursor?: unknown
    account_id?: unknown
    status?: unknown
    action?: unknown
  }
}

type Deps = OverviewDeps & AccountDeps & CancelDeps & RedeliveryDeps

/** Extension, for admins: the requests, webhook deliveries, changes and usage of all accounts. */
export function adminOverviewRoutes(app: FastifyInstance, deps: Deps): void {
  requestRoutes(app, deps)
  listRoutes(app, deps)
  usageRoutes(app, deps)
}

const ofAccount = { type: 'string', description: 'Only those of this account.' } as const

const pageQueryOf = ({ limit, cursor, account_id: accountId }: ListQuery['Querystring']) => ({
  limit: limitOf(limit),
  cursor,
  accountId: textOf(accountId),
})

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

function requestRoutes(app: FastifyInstance, deps: Deps): void {
  const authored = authoredBy(deps)
  app.get<ListQuery>(
    '/admin/requests',
    {
      schema: {
        ...describe('listAllRequests', 'List the requests of all accounts, newest first'),
        querystring: {
          type: 'object',
          properties: {
            ...pageParameters,
            account_id: ofAccount,
            status: {
              type: 'string',
              enum: [...REQUEST_STATUSES],
              description:
                'Only requests with this status; by default, those that are not finished.',
            },
          },
        },
        response: responses({ 200: AdminRequestList }, ['INVALID_PARAMETER']),
      },
    },
    async ({ query }) =>
      allRequests(deps, {
        ...pageQueryOf(query),
        status: statusOf(query.status, REQUEST_STATUSES),
      }),
  )
  app.post<RequestRoute>(
    '/admin/requests/:request_id/cancel',
    {
      schema: {
        ...describe('cancelAnyRequest', 'Cancel a request of any account'),
        response: responses({ 200: AdminRequest }, [404, 'REQUEST_FINISHED']),
      },
    },
    async (request) => cancelForAccount(authored(request), request.params.request_id),
  )
  app.post<RequestRoute>(
    '/admin/requests/:request_id/redeliver',
    {
      schema: {
        ...describe('redeliverAnyWebhook', 'Send the webhook of a request again'),
        response: responses({ 200: WebhookDeliveryStatus }, [404, 'RESULT_NOT_READY']),
      },
    },
    async (request) => redeliverForAccount(authored(request), request.params.request_id),
  )
}

function listRoutes(app: FastifyInstance, deps: Deps): void {
  app.get<ListQuery>(
    '/admin/deliveries',
    {
      schema: {
        ...describe('listAllDeliveries', 'List the deliveries of webhooks, newest first'),
        querystring: {
          type: 'object',
          properties: {
            ...pageParameters,
            status: {
              type: 'string',
              enum: [...DELIVERY_STATES],
              description: 'Only deliveries with this status; by default, all.',
            },
          },
        },
        response: responses({ 200: AdminDeliveryList }, ['INVALID_PARAMETER']),
      },
    },
    async ({ query }) =>
      allDeliveries(deps, {
        ...pageQueryOf(query),
        state: statusOf(query.status, DELIVERY_STATES),
      }),
  )
  app.get<ListQuery>(
    '/admin/changes',
    {
      schema: {
        ...describe('listChanges', 'List the changes that admins made, newest first'),
        querystring: {
          type: 'object',
          properties: {
            ...pageParameters,
            account_id: ofAccount,
            action: {
              type: 'string',
              description: 'Only this kind of change, for example `key.revoke`.',
            },
          },
        },
        response: responses({ 200: AdminChangeList }),
      },
    },
    async ({ query }) => allChanges(deps, { ...pageQueryOf(query), action: textOf(query.action) }),
  )
}

function usageRoutes(app: FastifyInstance, deps: Deps): void {
  app.get(
    '/admin/usage',
    {
      schema: {
        ...describe('showAllUsage', 'Get what each account used, and how storage grew in a day'),
        response: responses({ 200: AdminUsage }),
      },
    },
    async () => usageOfAll(deps),
  )
  app.get<UsageRoute>(
    '/admin/usage/days',
    {
      schema: {
        ...describe('listUsageDays', 'List what each account used by day, oldest first'),
        description:
          'Use `format=csv`, or `Accept: text/csv`, to get all rows at once as CSV. A cell that ' +
          'a spreadsheet would take for a formula begins with an apostrophe.',
        querystring: {
          type: 'object',
          properties: {
            ...dayParameters,
            account_id: ofAccount,
            ...pageParameters,
            format: { type: 'string', enum: ['json', 'csv'], default: 'json' },
          },
        },
        response: responses({ 200: AccountUsageDays }, ['INVALID_PARAMETER']),
      },
    },
    async ({ query: { from, to, format, ...query }, headers }, reply) => {
      const usageQuery = { from, to, ...pageQueryOf(query) }
      if (!asksForCsv(format, headers.accept)) return usageByDay(deps, usageQuery)
      const csv = usageCsv(deps, usageQuery)
      return reply
        .header('content-disposition', 'attachment; filename="usage.csv"')
        .type('text/csv; charset=utf-8')
        .send(Readable.from(csv))
    },
  )
}

interface UsageRoute {
  Querystring: ListQuery['Querystring'] & { from?: unknown; to?: unknown; format?: unknown }
}
