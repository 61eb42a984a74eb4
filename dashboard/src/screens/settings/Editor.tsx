import { Button } from '@mantine/core'
import { useEffect } from 'react'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { ConflictDialog } from '../../ui/ConflictDialog'
import { DetailTabs } from '../../ui/DetailTabs'
import { ErrorBar } from '../../ui/ErrorBar'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { DiscardDialog } from '../../ui/Form'
import { NoMatches } from '../../ui/NoMatches'
import { Page, Section } from '../../ui/Page'
import { pluralize } from '../../units'
import { History } from './History'
import { Pending } from './Pending'
import { Review } from './Review'
import { SettingRow } from './SettingRow'
import { type SettingsForm, useSettingsForm } from './useSettingsForm'
import {
  describeChanges,
  describeDraft,
  filterSettings,
  groupBySection,
  type Kind,
  type Setting,
  titleOf,
  type ValueSchema,
} from './values'

export const LEAD = 'Every setting with its value and where that comes from. What you save here is stored in the database.'

const FILTERS = ['q', 'section', 'show'] as const
const FIXED: Kind = { input: 'text' }

interface Props {
  settings: readonly Setting[]
  /** When they were loaded. */
  updatedAt: number
  schemas: Readonly<Record<string, ValueSchema>>
}

/** The edits are kept while filters and tabs change. */
export function Editor({ settings, updatedAt, schemas }: Props) {
  const editor = useSettingsForm(settings, updatedAt, schemas)
  const byKey = new Map(settings.map((each) => [each.key, each]))
  const names = Object.keys(editor.kinds)
  const { reviewed, edited } = editor
  const [{ tab, q, section, show }] = useSearchParams()
  const shown = tab ? [] : filterSettings(settings, { q, section, show }).map((each) => each.key)
  return (
    <Page title="Settings" lead={LEAD}>
      <Pending settings={settings} isEditing={edited.length > 0} />
      <DetailTabs
        tabs={[
          { value: 'settings', label: 'Settings', content: <SettingsTab settings={settings} editor={editor} /> },
          { value: 'history', label: 'History', content: <History settings={settings} /> },
        ]}
      />
      {edited.length > 0 && <Unsaved editor={editor} />}
      {!reviewed && <ErrorBar error={editor.error} besides={shown} />}
      <Review
        changes={reviewed && describeChanges(settings, reviewed.changes, edited)}
        plan={reviewed?.plan ?? null}
        warnings={reviewed?.warnings ?? []}
        error={editor.save.error}
        isPending={editor.save.isPending}
        onClose={editor.closeReview}
        onSave={(fields) => editor.save.mutate(fields)}
      />
      <ConflictDialog
        error={editor.conflict}
        form={editor.form}
        version={editor.version}
        labels={Object.fromEntries(names.map((key) => [key, key]))}
        show={Object.fromEntries(names.map((key) => [key, (draft: unknown) => describeDraft(byKey.get(key), draft)]))}
        load={editor.loadCurrent}
        onClose={editor.forgetErrors}
        onSave={(values) => editor.review(values)}
        action="Review"
      />
      <DiscardDialog isDirty={editor.form.isDirty} path={PATHS.settings} />
    </Page>
  )
}

function SettingsTab({ settings, editor }: { settings: readonly Setting[]; editor: SettingsForm }) {
  const [{ q, section, show }] = useSearchParams()
  const { form, kinds, edited, opened, setOpened, error } = editor
  const matches = filterSettings(settings, { q, section, show })
  const undo = (key: string) => {
    form.set(key, form.savedValues()[key] ?? null)
    setOpened(opened.filter((each) => each !== key))
  }
  // After a refused review the first field with an error has the focus.
  useEffect(() => {
    if (error) document.querySelector<HTMLElement>('.setting [aria-invalid=true]')?.focus()
  }, [error])
  return (
    <>
      <Filters names={FILTERS}>
        <TextFilter name="q" label="Search by name or description" hint="Search settings" main />
        <ChoiceFilter name="section" label="Section" data={groupBySection(settings).map(([value]) => ({ value, label: titleOf(value) }))} />
        <ChoiceFilter
          name="show"
          label="Show"
          data={[
            { value: 'changed', label: 'Not default' },
            { value: 'editable', label: 'Can be changed here' },
            { value: 'pending', label: 'Not applied yet' },
          ]}
        />
      </Filters>
      <p className="visually-hidden" role="status">
        {pluralize(matches.length, 'setting')} shown
      </p>
      {matches.length === 0 && (
        <div className="card">
          <NoMatches what="settings" filters={FILTERS}>
            Words match parts of the name, the description and the section.
          </NoMatches>
        </div>
      )}
      {groupBySection(matches).map(([name, group]) => (
        <Section key={name} title={titleOf(name)}>
          <ul className="settings">
            {group.map((setting) => (
              <SettingRow
                key={setting.key}
                setting={setting}
                kind={kinds[setting.key] ?? FIXED}
                draft={form.values[setting.key]}
                isEdited={edited.includes(setting.key)}
                isOpen={opened.includes(setting.key)}
                error={form.errorOf(setting.key)}
                onOpen={() => setOpened([...opened, setting.key])}
                onChange={(draft) => form.set(setting.key, draft)}
                onUndo={() => undo(setting.key)}
              />
            ))}
          </ul>
        </Section>
      ))}
    </>
  )
}

/** Stays at the lower edge of the window while there are edits. */
function Unsaved({ editor }: { editor: SettingsForm }) {
  const { form, edited, setOpened } = editor
  function discard() {
    form.reset(form.savedValues())
    setOpened([])
    editor.forgetErrors()
  }
  return (
    <div className="unsaved" role="region" aria-label="Changes that are not saved">
      <span role="status">{pluralize(edited.length, 'change')} not saved</span>
      <span className="row row-tight">
        <Button variant="default" onClick={discard}>
          Discard
        </Button>
        <Button loading={editor.isChecking} onClick={() => editor.review(form.values)}>
          Review
        </Button>
      </span>
    </div>
  )
}
