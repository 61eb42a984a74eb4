import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatNumber, LOCALE } from '../../locale'
import type { Bars, Series } from './DayChart'

const HEIGHT = 220
const DAY = 86_400

/** Draws stacked bars of days into an element; returns a function that removes them. The colours follow the theme. */
export function drawBars(element: HTMLElement, { days, series, since, until }: Bars): () => void {
  let chart: uPlot | null = null
  const draw = () => {
    chart?.destroy()
    chart = new uPlot(options(element, series, [since, until]), stack(days, series), element)
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
function stack(days: readonly string[], series: readonly Series[]): uPlot.AlignedData {
  const sumFrom = (first: number, day: number) => series.slice(first).reduce((sum, each) => sum + (each.counts[day] ?? 0), 0)
  const sums = [...series.keys()].map((first) => [...days.keys()].map((day) => sumFrom(first, day)))
  return [days.map((day) => Date.parse(day) / 1000), ...sums]
}

function options(element: HTMLElement, series: readonly Series[], times: [string, string]): uPlot.Options {
  const [first, last] = times.map((time) => Date.parse(time.slice(0, 10)) / 1000) as [number, number]
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
        size: 60,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7, 1e8],
        values: (_, ticks) => ticks.map(formatNumber),
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
