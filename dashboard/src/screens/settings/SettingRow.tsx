import { Button, PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useEffect, useId, useRef } from 'react'
import { Badge, type Tone } from '../../ui/Badge'
import { Tags } from '../../ui/Tags'
import { EffectBadge } from './ChangeTable'
import { type Draft, describeValue, isStored, type Kind, newestValue, type Setting, textOf, whyFixed } from './values'

const SOURCES: Readonly<Record<Setting['source'], { label: string; tone: Tone }>> = {
  default: { label: 'default', tone: 'calm' },
  file: { label: 'mailkeep.toml', tone: 'warn' },
  env: { label: 'environment or option', tone: 'warn' },
  database: { label: 'database', tone: 'info' },
}

interface Props {
  setting: Setting
  kind: Kind
  draft: Draft | undefined
  isEdited: boolean
  isOpen: boolean
  error: string | undefined
  onOpen: () => void
  onChange: (draft: Draft) => void
  /** Takes the edit back. */
  onUndo: () => void
}

/** A setting: what it means, its value, where this comes from, and its input once "Change" is pressed. */
export function SettingRow(props: Props) {
  const { setting, draft, isEdited, isOpen, error } = props
  const id = useId()
  const reason = whyFixed(setting)
  const source = SOURCES[setting.source]
  const isUnset = isEdited && draft === null
  const row = useRef<HTMLLIElement>(null)
  const isInputShown = isOpen && !isUnset
  const wasShown = useRef([isInputShown, isUnset])
  useEffect(() => {
    // The pressed button or the input is gone: the next one gets the focus.
    const isChanged = wasShown.current[0] !== isInputShown || wasShown.current[1] !== isUnset
    wasShown.current = [isInputShown, isUnset]
    if (isChanged && document.activeElement === document.body) row.current?.querySelector('button')?.focus()
  }, [isInputShown, isUnset])
  const button = { size: 'xs', variant: 'default' } as const
  return (
    <li ref={row} className={isEdited ? 'setting setting-edited' : 'setting'} data-setting={setting.key}>
      <div className="stack-small">
        <h3 id={`${id}-key`} className="break">
          <code>{setting.key}</code>
        </h3>
        <p id={`${id}-text`} className="muted small break">
          <Words text={setting.description} />
        </p>
        <div className="row row-tight">
          <Badge tone={source.tone}>{source.label}</Badge>
          <EffectBadge effect={setting} />
          {isEdited && <Badge tone="warn">not saved</Badge>}
        </div>
      </div>
      <div className="stack-small">
        {isInputShown ? (
          <ValueInput {...props} labelId={`${id}-key`} textId={`${id}-text`} />
        ) : (
          <p className="break change">
            {isUnset ? <ins>default: {describeValue(setting, setting.default)}</ins> : <Value setting={setting} value={setting.value} />}
          </p>
        )}
        {'pending' in setting && !isEdited && (
          <p className="small break">
            <Badge tone="info">not applied yet</Badge>{' '}
            {setting.secret && setting.value && setting.pending ? 'another secret' : describeValue(setting, newestValue(setting))}
          </p>
        )}
        {(setting.source !== 'default' || isOpen) && !isUnset && (
          <p className="muted small break">Default: {describeValue(setting, setting.default)}</p>
        )}
        {error && (!isOpen || isUnset || props.kind.input === 'switch') && (
          <p className="small setting-error break" role="alert">
            {error}
          </p>
        )}
        {reason ? (
          <p className="muted small">{reason}</p>
        ) : (
          <div className="row row-tight">
            {!isOpen && !isUnset && (
              <Button {...button} onClick={props.onOpen} aria-label={`Change ${setting.key}`}>
                Change
              </Button>
            )}
            {isStored(setting) && !isUnset && (
              <Button {...button} onClick={() => props.onChange(null)} aria-label={`Use default of ${setting.key}`}>
                Use default
              </Button>
            )}
            {(isOpen || isUnset) && (
              <Button
                {...button}
                variant="subtle"
                color="gray"
                onClick={props.onUndo}
                aria-label={`${isEdited ? 'Undo' : 'Cancel'} the change of ${setting.key}`}
              >
                {isEdited ? 'Undo' : 'Cancel'}
              </Button>
            )}
          </div>
        )}
      </div>
    </li>
  )
}

function Value({ setting, value }: { setting: Setting; value: unknown }) {
  const text = describeValue(setting, value)
  const isWord = setting.secret || typeof value === 'boolean' || text === 'none' || text === 'empty'
  return isWord ? <span className="strong">{text}</span> : <code>{text}</code>
}

/** Text with `code`. */
function Words({ text }: { text: string }) {
  return text.split('`').map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))
}

function ValueInput({ setting, kind, draft, error, onChange, labelId, textId }: Props & { labelId: string; textId: string }) {
  const common = {
    'aria-labelledby': labelId,
    'aria-describedby': textId,
    'aria-invalid': error ? (true as const) : undefined,
    error,
    autoFocus: true,
  }
  const text = { ...common, value: textOf(draft), autoComplete: 'off', spellCheck: false }
  const read = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value)
  const hint = !error && <span className="muted small">{`Expected: ${setting.expected}`}</span>
  switch (kind.input) {
    case 'switch':
      return (
        <Switch
          {...common}
          error={Boolean(error)}
          label={draft === true ? 'on' : 'off'}
          checked={draft === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'choice':
      return (
        <Select
          {...common}
          data={[...kind.options]}
          value={textOf(draft)}
          allowDeselect={false}
          onChange={(value) => onChange(value ?? '')}
        />
      )
    case 'list':
      return (
        <>
          <Tags
            {...common}
            value={Array.isArray(draft) ? [...draft] : []}
            onChange={onChange}
            placeholder="Enter a value, then press Enter"
            acceptValueOnBlur
          />
          {hint}
        </>
      )
    case 'json':
      return (
        <>
          <Textarea {...text} onChange={read} autosize minRows={4} maxRows={16} classNames={{ input: 'mono' }} />
          {hint}
        </>
      )
    case 'secret':
      return (
        <>
          <PasswordInput {...text} autoComplete="new-password" placeholder="New secret" onChange={read} />
          <span className="muted small">It is stored encrypted and never shown.</span>
        </>
      )
    default:
      return (
        <>
          <TextInput {...text} onChange={read} {...(kind.input === 'number' && { inputMode: 'decimal' as const })} />
          {hint}
        </>
      )
  }
}
