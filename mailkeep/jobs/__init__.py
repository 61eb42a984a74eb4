"""Work that waits in PostgreSQL, done by any number of workers.

A feature has a table of its own whose rows are the jobs, since they are its records too, and a claim of its own, one
statement. What they share:

- A row that waits has the time from which it may be claimed. A claim (SKIP LOCKED) puts it off to the end of a lease
  and raises the row's count of claims, the fencing token: whoever settles the job says which claim it had, and a worker
  that was stopped and woke finds that the job is another's by now. After a worker that died nobody cleans up: the
  lease ends, and the row is due.
- Jobs stand in lanes (a webhook's deliveries are one). A lane has room for so many at a time: `Pace` gives more to one
  that answers, and the least to one that does not. So whoever is slow holds back its own lane only.
- `Worker` claims as long as there is something due and room, and sleeps when there is neither: woken by NOTIFY (`Bell`,
  and `wake_workers` in SQL), and looking by itself every second, since a call may be missed.
- `Grouped` writes what many jobs have come to in one statement.
"""
