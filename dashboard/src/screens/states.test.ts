import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { Schema } from '../api/client'
import { domains, mailboxes } from '../api/mock/fixtures'
import { DomainState } from './domains/Domains'
import { MailboxState } from './mailboxes/Mailboxes'

const textOf = (html: string) => html.replace(/<[^>]*>/g, '').trim()

test.each([
  [{}, 'active'],
  [{ sending_enabled: false }, 'receives only'],
  [{ receiving_enabled: false }, 'sends only'],
  [{ sending_enabled: false, receiving_enabled: false }, 'neither sends nor receives'],
  [{ active: false, sending_enabled: false }, 'inactive'],
])('the state of a domain: %o', (change, text) => {
  const domain: Schema['DomainRecord'] = { ...domains[0]!, ...change }
  expect(textOf(renderToStaticMarkup(createElement(DomainState, { domain })))).toBe(text)
})

test.each([
  [0, true, 'active'],
  [0, false, 'inactive'],
  [2, true, 'sending suspended'],
  [2, false, 'sending suspended inactive'],
])('the state of mailbox %i, active %s', (index, active, text) => {
  const mailbox: Schema['MailboxRecord'] = { ...mailboxes[index]!, active }
  expect(textOf(renderToStaticMarkup(createElement(MailboxState, { mailbox })))).toBe(text)
})
