/** Parameters that several routes describe alike. */

export interface RequestParams {
  request_id: string
}

export const requestParams = {
  type: 'object',
  properties: { request_id: { type: 'string' } },
  required: ['request_id'],
} as const

export const logsParameter = {
  type: 'boolean', default: false, description: 'Include the log lines.',
} as const
