"""Job queues in PostgreSQL, served by any number of workers.

Each feature has its own table, whose rows are both its records and its jobs, and its own claim statement. All queues
share these rules:

- A waiting row has the time from which it may be claimed. A claim (SKIP LOCKED) sets that time to the end of a lease
  and increments the row's claim count, which is the fencing token: completing a job requires the token, so a worker
  that was suspended cannot complete a job that another worker has claimed since. After a crash there is nothing to
  clean up: the lease expires and the row is due again.
- Each job has a key (a webhook's deliveries share one). `AdaptiveConcurrency` limits the concurrent jobs of each key:
  it grows with success and shrinks with failure. A slow receiver delays only the jobs of its own key.
- `Worker` claims due jobs while it has free slots, and otherwise sleeps until a NOTIFY (`Wakeup`, `wake_workers` in
  SQL) or the next poll, which runs every second because a notification may be missed. It releases the jobs that it
  interrupts. The worker of a feature is a `QueueWorker`, which has one.
- `BatchWriter` writes the results of many jobs in one statement.
"""
