import type { Schema } from '../../api/client'

export type Service = Schema['ServiceResponse']
export type ServiceAction = Service['actions'][number]

/** The actions that make sense in the present state. */
export function listSensibleActions({ actions, state }: Pick<Service, 'actions' | 'state'>): ServiceAction[] {
  return actions.filter((action) => (state === 'stopped' ? action !== 'stop' && action !== 'reload' : action !== 'start'))
}

export const ACTION_LABELS: Readonly<Record<ServiceAction, string>> = {
  start: 'Start',
  stop: 'Stop',
  restart: 'Restart',
  reload: 'Reload',
}
