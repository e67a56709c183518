// Package scheduletest holds schedules, the tick and both stores against the enumeration of their rules: under a
// stepped clock, through outages, pauses and kills, the ledger has every due instant exactly once.
package scheduletest
