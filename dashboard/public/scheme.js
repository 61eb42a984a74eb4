// Sets the chosen or the system theme before the first paint. The content security policy allows no inline script.
;(function () {
  var chosen = null
  try {
    chosen = localStorage.getItem('mailkeep-color-scheme')
  } catch {
    /* storage is forbidden: follow the system */
  }
  var dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
