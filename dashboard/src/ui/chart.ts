import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { HOUR_CYCLE, LOCALE } from '../locale'
import { UTC } from '../timeZone'
import { pickTicks, type Step } from './chartTimes'
import { type Bars, formatValue, type Series } from './DayChart'

const HEIGHT = 220
const LABEL_WIDTH = 64
const HOUR = 3600
const DAY = 24 * HOUR
const COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7, 1e8]
const BYTES = [1, 1024, 1024 ** 2, 1024 ** 3, 1024 ** 4].flatMap((size) =>
  [1, 2, 5, 10, 20, 50, 100, 200, 500].map((count) => count * size),
)

const SECONDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, HOUR, 2 * HOUR, 6 * HOUR, DAY, 2 * DAY]
const INCREMENTS = { bytes: BYTES, seconds: SECONDS }

/**
 * Draws bars and lines into an element; returns a function that removes them. The colours follow the theme. `open`: what a
 * click does, with the index of the day or hour.
 */
export function drawBars(element: HTMLElement, bars: Bars, open?: (index: number) => void): () => void {
  const { days, series, unit } = bars
  const values = unit ? series.map((each) => [...each.counts]) : stack(days, series)
  let chart: uPlot | null = null
  const draw = () => {
    chart?.destroy()
    chart = new uPlot(options(element, bars), [days.map((day) => Date.parse(day) / 1000), ...values], element)
    if (!open) return
    const { over } = chart
    over.classList.add('day-chart-open')
    over.onclick = (event) => {
      const at = chart?.posToVal(event.clientX - over.getBoundingClientRect().left, 'x') ?? 0
      open(findNearest(days, at * 1000))
    }
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

/** The index of the time that is nearest to `at`, in milliseconds: a bar is centred on its time. */
function findNearest(times: readonly string[], at: number): number {
  const distances = times.map((time) => Math.abs(Date.parse(time) - at))
  return distances.indexOf(Math.min(...distances))
}

/** Bars on top of the later ones: the first is drawn first, and covered from below. Lines stay as they are. */
function stack(days: readonly string[], series: readonly Series[]): (number | null)[][] {
  const bars = series.filter((each) => !each.form)
  const sumFrom = (first: number, day: number) => bars.slice(first).reduce((sum, each) => sum + (each.counts[day] ?? 0), 0)
  return series.map((each) => (each.form ? [...each.counts] : [...days.keys()].map((day) => sumFrom(bars.indexOf(each), day))))
}

function options(element: HTMLElement, { days, series, since, until, unit, step = 'day', zone = UTC }: Bars): uPlot.Options {
  // Days without a zone are UTC dates, whatever the time.
  const edge = (time: string) => Date.parse(zone === UTC && step !== 'hour' ? time.slice(0, 10) : time) / 1000
  const [first, last, margin] = [edge(since), edge(until), (step === 'hour' ? HOUR : DAY) / 2]
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
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: () => [first - margin, last + margin] },
      y: { range: (_, _low, high) => [0, Math.max(high, 1) * 1.05] },
    },
    axes: [
      {
        ...axis,
        size: 32,
        grid: { show: false },
        // Of uPlot's own, which are at equal distances, days would be repeated or missing after a change of the clocks.
        splits: () => pickTicks(days, step, element.clientWidth / LABEL_WIDTH).map((time) => Date.parse(time) / 1000),
        values: (_, ticks) => ticks.map((seconds) => formatTick(seconds, step, zone)),
      },
      {
        ...axis,
        size: unit === 'bytes' ? 72 : 60,
        incrs: unit ? INCREMENTS[unit] : COUNTS,
        values: (_, ticks) => ticks.map((value) => formatValue(value, unit)),
      },
    ],
    series: [
      {},
      ...series.map(({ label, tone, form }) =>
        form
          ? { label, stroke: colour(tone), width: 2, points: { size: 5 }, ...(form === 'dashed' && { dash: [6, 4] }) }
          : { label, fill: colour(tone), width: 0, points: { show: false }, ...(bars && { paths: bars }) },
      ),
    ],
  }
}

function formatTick(seconds: number, step: Step, zone: string): string {
  const time: Intl.DateTimeFormatOptions =
    step === 'hour' ? { hour: '2-digit', minute: '2-digit', hourCycle: HOUR_CYCLE } : { day: 'numeric', month: 'short' }
  return new Date(seconds * 1000).toLocaleString(LOCALE, { ...time, timeZone: zone })
}
