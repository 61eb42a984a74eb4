interface Description {
  label: string
  help: string
}

const NAMES: Readonly<Record<string, Description>> = {
  sender_per_hour: { label: 'Recipients of a sender per hour', help: 'A sender address that exceeds it is suspended.' },
  domain_per_hour: { label: 'Recipients of the domain per hour', help: 'Further recipients are refused until the hour is over.' },
  forward_per_hour: {
    label: 'Forwarded copies per hour',
    help: 'External recipients of aliases, forwards and Sieve redirects. Further mail is deferred.',
  },
  bounce_warn: { label: 'Bounces of a sender, alert (%)', help: 'Recipients that do not exist, of those with an outcome.' },
  bounce_act: { label: 'Bounces of a sender, suspension (%)', help: 'The same. 100: it is never suspended because of them.' },
  complaint_warn: { label: 'Complaints about a sender, alert (%)', help: 'Deliveries that are reported as spam.' },
  complaint_act: { label: 'Complaints about a sender, critical (%)', help: 'The same. With too many bounces as well, it is suspended.' },
}

/** What a threshold is called; one that is not in the table by its name. */
export function describeName(name: string): Description {
  const words = name.replaceAll('_', ' ')
  return NAMES[name] ?? { label: `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}`, help: '' }
}
