"""Templates of messages: Jinja2 in a sandbox, in child processes that can do nothing else.

Subject and text are plain; in HTML all values are escaped. A template sees its variables (JSON) and nothing of Python:
no attributes of objects, no files, no other templates. `{{ order.id }}` is the key `id` of the object `order`.

Rendering happens in a child process (`render_process`), with limits on CPU time, elapsed time, memory and output. The
child has no environment and no secrets, opens no file and no socket, and starts nothing. Only what it imports lies in
`environment`, `render` and `html_text`; nobody else may call them with templates of others.
"""
