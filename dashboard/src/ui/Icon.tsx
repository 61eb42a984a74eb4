/** Shapes on a 24 × 24 grid in the text colour; an icon never carries meaning alone. */
const SHAPES = {
  home: 'M4 11l8-7 8 7M6 10v10h12V10M10 20v-6h4v6',
  globe: 'M12 3a9 9 0 100 18 9 9 0 000-18zM3.5 9.5h17M3.5 14.5h17M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18',
  inbox: 'M4 13l3-8h10l3 8v6H4zM4 13h5l1.5 3h3L15 13h5',
  branch: 'M5 12h5l4-6h5M10 12l4 6h5M16.500 3.500L19 6l-2.500 2.500M16.500 15.500L19 18l-2.500 2.500',
  route: 'M6 19a2 2 0 100-.01M18 5a2 2 0 100-.01M8 19h7a3 3 0 000-7H9a3.500 3.500 0 010-7h7',
  mail: 'M3.500 6h17v12h-17zM3.500 7l8.500 6.500L20.500 7',
  send: 'M20.500 3.500L3.500 10l7 3.500 3.500 7zM10.500 13.500l10-10',
  pause: 'M12 3a9 9 0 100 18 9 9 0 000-18zM10 9v6M14 9v6',
  queue: 'M4 6h16M4 11h16M4 16h8M15.500 18.500l2 2 3.500-4.500',
  person: 'M12 4a4 4 0 100 8 4 4 0 000-8zM4.500 20c.8-4 3.700-6 7.500-6s6.700 2 7.500 6',
  flag: 'M6 21V4M6 5h12l-3 4 3 4H6',
  key: 'M8 12a4 4 0 100 .01M11.500 12H21M18 12v3.500M15 12v2.500',
  hook: 'M9 4a3.500 3.500 0 013 5.500L9.500 15M17 19a3.500 3.500 0 01-4-5M5 19a3.500 3.500 0 001-6.500M9.500 15a3.500 3.500 0 01-4.500 4M13 14h4a3.500 3.500 0 110 5',
  pulse: 'M3 12h4l3-8 4 16 3-8h4',
  box: 'M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8',
  book: 'M5 4h11a3 3 0 013 3v13H8a3 3 0 01-3-3zM5 17a3 3 0 013-3h11',
  people:
    'M9 5a3.500 3.500 0 100 7 3.500 3.500 0 000-7zM2.500 19.500c.6-3.500 3-5 6.500-5s5.900 1.500 6.500 5M16 5.500a3.200 3.200 0 010 6.200M18 14.800c2 .7 3.200 2.200 3.600 4.700',
  scroll: 'M6 3.500h9l4 4v13H6zM15 3.500v4h4M9 12h7M9 16h7',
  search: 'M11 4a7 7 0 100 14 7 7 0 000-14zM16 16l4.500 4.500',
  plus: 'M12 5v14M5 12h14',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  check: 'M5 12.500l4.500 4.500L19 7.500',
  cross: 'M6 6l12 12M18 6L6 18',
  warn: 'M12 4l9 16H3zM12 10v4.500M12 17.200v.1',
  info: 'M12 3a9 9 0 100 18 9 9 0 000-18zM12 11v5.500M12 7.600v.1',
  trash: 'M4.500 7h15M9 7V4h6v3M6.500 7l1 13h9l1-13M10 11v5.500M14 11v5.500',
  edit: 'M4 20l1-4.500L16.500 4 20 7.500 8.500 19zM14 6.500l3.500 3.500',
  dots: 'M5 12h.01M12 12h.01M19 12h.01',
  left: 'M14.500 5.500L8 12l6.500 6.500',
  right: 'M9.500 5.500L16 12l-6.500 6.500',
  down: 'M5.500 9.500L12 16l6.500-6.500',
  up: 'M5.500 14.500L12 8l6.500 6.500',
  menu: 'M4 6.500h16M4 12h16M4 17.500h16',
  sun: 'M12 8a4 4 0 100 8 4 4 0 000-8zM12 2.500v2.500M12 19v2.500M2.500 12H5M19 12h2.500M5.300 5.300l1.800 1.800M16.900 16.900l1.800 1.800M18.700 5.300l-1.800 1.800M7.100 16.900l-1.800 1.800',
  moon: 'M19.500 14.500A8 8 0 019.500 4.500a8 8 0 1010 10z',
  out: 'M14 4H5v16h9M10 12h10.500M17 8.500l3.500 3.500-3.500 3.500',
  clip: 'M19 11l-7.500 7.500a4.500 4.500 0 01-6.400-6.400L13 4.300a3 3 0 014.200 4.200l-7.600 7.600a1.400 1.400 0 01-2-2l7-7',
  down_load: 'M12 4v11M7.500 10.500L12 15l4.500-4.500M4.500 19.500h15',
  refresh: 'M19.500 12a7.500 7.500 0 11-2.200-5.300L19.500 9M19.500 4v5h-5',
  shield: 'M12 3l7.500 3v5.500c0 4.500-3 7.800-7.500 9.500-4.500-1.700-7.500-5-7.500-9.500V6z',
  clock: 'M12 3a9 9 0 100 18 9 9 0 000-18zM12 7.500V12l3 2.500',
  code: 'M8.500 7L3.500 12l5 5M15.500 7l5 5-5 5',
  server: 'M4 4.500h16v6.500H4zM4 13h16v6.500H4zM7.500 7.700h.01M7.500 16.200h.01',
  sliders: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5a2 2 0 100 4 2 2 0 000-4zM9 15a2 2 0 100 4 2 2 0 000-4z',
  phone: 'M7 3h10v18H7zM11 18h2',
} as const

export type IconName = keyof typeof SHAPES

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={SHAPES[name]} />
    </svg>
  )
}

export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg className="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <path className="logo-keep" d="M4 9V5h5v3h4V5h6v3h4V5h5v4l-12 8z" />
      <path className="logo-mail" d="M4 12l12 8 12-8v15H4z" />
    </svg>
  )
}
