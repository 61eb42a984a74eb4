// Before the first paint: the theme that was chosen, else the system's. A file of its own, because the policy allows
// no script in the page.
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
