// Package recurrence answers when a schedule is due, and what is to be done about the times at which it was.
// It is pure: no I/O, no clock, no chance, no state. Times come in as arguments, zones come from the database
// in the binary.
//
// Where to look:
//
//	rule.go, options.go          Parse, Rule and what a schedule may choose
//	parse.go                     the text: prefixes, @names, five or six fields; cache.go keeps what was parsed
//	field.go, field_day.go       one field: lists, ranges, steps, names; L, W and #
//	calendar.go, wall.go         which wall-clock times match, on a line without zones
//	zone.go, zoneinfo.go         stretches of one offset; the embedded database
//	segment.go                   what daylight saving makes of the matches of one stretch
//	search.go, every.go          Next and Prev; the same for @every
//	enumerate.go, span.go        all occurrences between two instants, one by one or as ranges
//	describe.go, describe_set.go, warnings.go   the rule in words, and what may surprise
//	plan.go, plan_missed.go, plan_walk.go       what the tick does with instants that have come due
//	jitter.go                    how far a run is moved
//
// Every search is bounded: see Rule.Next.
package recurrence
