-- Write the counts of one minute of one priority and type.
--   ?1 minute   ?2 priority   ?3 type   ?4 starts   ?5 done   ?6 failed   ?7 retried   ?8 cancelled   ?9 lost
--   ?10 snoozed   ?11 lag_sum   ?12 lag   ?13 merged   ?14 strayed   ?15 the last minute of a sum
INSERT OR REPLACE INTO rollups (minute, priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag_sum, lag, merged, strayed, last_minute)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
