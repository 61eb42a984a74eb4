"""What is unusual, compared with before: much more mail of a domain, none at all, and sign-ins from unexpected
networks.

`look` runs every five minutes and reports alerts (`record/alerts`), which end when it is over.

- `spike`: a domain's recipients and forwarded copies of the last hour (four quarters, with the running one) against
  the same hour of the four weeks before, in each the largest of that hour and the two beside it; each week counts
  0.6 as much as the next. An alert needs at least 50, twice the usual number, and z of at least 6 (z: the
  difference in standard deviations; the usual hour may vary by 30 %). With less than two weeks of figures: against
  the weighted mean of the hours before (EWMA, 0.2), once there are 24 hours of them.
- `silence`: a domain delivered nothing in the last two hours, in which it delivered at least 20 in the weeks
  before. If the whole server delivered nothing, that is one alert, about the server.
- `sign_in_networks`: sign-ins to a mailbox from more than three networks (/16, IPv6 /32) within an hour.
- `sign_in_after_pause`: a sign-in from a new network to a mailbox that nobody had signed in to for 14 days.

The figures are those of `record/analytics`; forwarded copies are counted by `mailflow/sender_checks`.
"""
