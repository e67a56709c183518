// Package schedule holds the contract of stores about schedules, their ledger and their alerts.
package schedule
