import type { Schema } from '../../api/client'
import type { Unit } from '../../units'
import { fromRequirement, toRequirement } from '../mailboxes/RequireAppPasswords'

type Domain = Schema['DomainRecord']

export function initialValues(domain: Domain | undefined, unit: Unit) {
  return {
    name: domain?.name ?? '',
    description: domain?.description ?? '',
    alias_of: domain?.alias_of ?? null,
    active: domain?.active ?? true,
    sending_enabled: domain?.sending_enabled ?? true,
    receiving_enabled: domain?.receiving_enabled ?? true,
    self_service: domain?.self_service ?? true,
    dkim_delegated: domain?.dkim_delegated ?? false,
    dns_managed: domain?.dns_managed ?? false,
    mta_sts_mode: domain?.mta_sts_mode ?? 'none',
    max_mailboxes: (domain?.max_mailboxes ?? '') as number | string,
    max_aliases: (domain?.max_aliases ?? '') as number | string,
    quota: (domain ? domain.default_quota_bytes / unit.size : 1) as number | string,
    plus: domain ? (domain.plus_delimiter ?? '') : '+',
    require_app_passwords: toRequirement(domain?.require_app_passwords),
    relay_host: domain?.relay?.host ?? '',
    relay_port: (domain?.relay?.port ?? 587) as number | string,
    relay_tls: domain?.relay?.tls ?? 'starttls',
    relay_username: domain?.relay?.username ?? '',
    relay_password: '',
  }
}

export function domainBody(values: ReturnType<typeof initialValues>, unit: Unit) {
  const limit = (value: number | string) => (value === '' ? null : Number(value))
  return {
    description: values.description,
    alias_of: values.alias_of,
    active: values.active,
    sending_enabled: values.sending_enabled,
    receiving_enabled: values.receiving_enabled,
    self_service: values.self_service,
    dkim_delegated: values.dkim_delegated,
    dns_managed: values.dns_managed,
    mta_sts_mode: values.mta_sts_mode as 'none' | 'testing' | 'enforce',
    max_mailboxes: limit(values.max_mailboxes),
    max_aliases: limit(values.max_aliases),
    default_quota_bytes: Math.round(Number(values.quota || 0) * unit.size),
    plus_delimiter: values.plus || null,
    require_app_passwords: fromRequirement(values.require_app_passwords),
    relay: relayBody(values),
  }
}

/** Without a password the API keeps the stored one, unless other relay settings change. */
function relayBody(values: ReturnType<typeof initialValues>) {
  if (!values.relay_host.trim()) return null
  return {
    host: values.relay_host.trim(),
    port: Number(values.relay_port || 587),
    tls: values.relay_tls as 'none' | 'starttls' | 'tls',
    username: values.relay_username.trim(),
    ...(values.relay_password ? { password: values.relay_password } : {}),
  }
}
