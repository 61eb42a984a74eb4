import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatNumber, LOCALE } from '../locale'
import { formatBytes } from '../units'
import type { Bars, Series } from './DayChart'

const HEIGHT = 220
const DAY = 86_400
const COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7, 1e8]
const BYTES = [1, 1024, 1024 ** 2, 1024 ** 3, 1024 ** 4].flatMap((size) =>
  [1, 2, 5, 10, 20, 50, 100, 200, 500].map((count) => count * size),
)

/** Draws bars of days into an element; returns a function that removes them. The colours follow the theme. */
export function drawBars(element: HTMLElement, bars: Bars): () => void {
  const { days, series, unit } = bars
  const values = unit === 'bytes' ? series.map((each) => [...each.counts]) : stack(days, series)
  let chart: uPlot | null = null
  const draw = () => {
    chart?.destroy()
    chart = new uPlot(options(element, bars), [days.map((day) => Date.parse(day) / 1000), ...values], element)
  }
  draw()
  const resizes = new ResizeObserver(() => chart?.setSize({ width: element.clientWidth, height: HEIGHT }))
  resizes.observe(element)
  const themes = new MutationObserver(draw)
  themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-mantine-color-scheme'] })
  return () => {
    resizes.disconnect()
    themes.disconnect()
    chart?.destroy()
  }
}

/** Each series on top of the later ones: the first is drawn first, and covered from below. */
function stack(days: readonly string[], series: readonly Series[]): number[][] {
  const sumFrom = (first: number, day: number) => series.slice(first).reduce((sum, each) => sum + (each.counts[day] ?? 0), 0)
  return [...series.keys()].map((first) => [...days.keys()].map((day) => sumFrom(first, day)))
}

function options(element: HTMLElement, { series, since, until, unit }: Bars): uPlot.Options {
  const [first, last] = [since, until].map((time) => Date.parse(time.slice(0, 10)) / 1000) as [number, number]
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const bars = uPlot.paths.bars?.({ size: [0.7, 40], align: 0 })
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
  }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: () => [first - DAY / 2, last + DAY / 2] },
      y: { range: (_, _low, high) => [0, Math.max(high, 1) * 1.05] },
    },
    axes: [
      { ...axis, grid: { show: false }, incrs: [1, 2, 7, 14, 28].map((days) => days * DAY), values: (_, ticks) => ticks.map(formatDay) },
      {
        ...axis,
        size: unit === 'bytes' ? 72 : 60,
        incrs: unit === 'bytes' ? BYTES : COUNTS,
        values: (_, ticks) => ticks.map(unit === 'bytes' ? formatBytes : formatNumber),
      },
    ],
    series: [
      {},
      ...series.map(({ label, tone }) => ({
        label,
        fill: colour(tone),
        width: 0,
        points: { show: false },
        ...(bars && { paths: bars }),
      })),
    ],
  }
}

function formatDay(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' })
}
