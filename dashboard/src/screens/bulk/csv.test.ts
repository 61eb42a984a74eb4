import { describe, expect, it } from 'vitest'
import { parseCsv, writeCsv } from './csv'

const parse = (text: string) => parseCsv(new TextEncoder().encode(text).buffer as ArrayBuffer)

describe('parseCsv', () => {
  it('reads quotes, line breaks in cells, blank lines and a byte order mark', () => {
    const table = parse('\ufeffAddress,name\r\n\r\na@x.test,"Ann, ""A""\nB"\r\n,\r\nb@x.test,')
    expect(table.columns).toEqual(['Address', 'name'])
    expect(table.rows).toEqual([
      ['a@x.test', 'Ann, "A"\nB'],
      ['b@x.test', ''],
    ])
    expect(table.numbers).toEqual([3, 5])
  })
  it('finds the delimiter', () => {
    expect(parse('a;"b,c";d\n1;2;3').rows).toEqual([['1', '2', '3']])
    expect(parse('a\tb\n1\t2').rows).toEqual([['1', '2']])
    expect(parse('address\na@x.test').rows).toEqual([['a@x.test']])
  })
  it('says what is wrong', () => {
    expect(() => parse('')).toThrow('empty')
    expect(() => parse('a\n"b')).toThrow('Row 2')
    expect(() => parse('a\n"b"c')).toThrow('after a quotation mark')
    expect(() => parse('a\0b')).toThrow('NUL')
    expect(() => parseCsv(new Uint8Array([0xff, 0xfe, 0x61]).buffer)).toThrow('UTF-8')
  })
})

describe('writeCsv', () => {
  it('protects formulas, and parseCsv restores them', () => {
    const cells = ['=1+1', '-1', '+1', '@a', "'=a", "O'Brien", 'a "b", c', '']
    const text = writeCsv([cells.map((_, index) => `c${index}`), cells])
    expect(text).toContain(`"'=1+1","'-1","'+1","'@a","''=a","O'Brien","a ""b"", c",""`)
    expect(parse(text).rows).toEqual([cells])
  })
})
