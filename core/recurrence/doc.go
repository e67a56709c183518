// Package recurrence computes when a schedule is due, and which runs to make for instants that have come due. It is pure: no
// I/O, no clock, no randomness, no state. Times are arguments, and zones come from the database in the binary.
//
// Where to look:
//
//	rule.go, options.go          Parse, Rule and the options of a schedule
//	parse.go                     the text: prefixes, @names, five or six fields; cache.go keeps parsed texts
//	field.go, field_day.go       one field: lists, ranges, steps, names; L, W and #
//	calendar.go, wall.go         which wall-clock times match, without zones
//	zone.go, zoneinfo.go         periods with one offset; the embedded database
//	segment.go                   the matches of one such period after daylight saving
//	search.go, every.go          Next and Prev; the same for @every
//	enumerate.go, span.go        all occurrences between two instants, one by one or as ranges
//	describe.go, describe_set.go, warnings.go   the rule in words, and warnings
//	plan.go, plan_missed.go, plan_walk.go       which runs the tick makes for due instants
//	jitter.go                    how much later a run starts
//
// Every search is bounded: see Rule.Next.
package recurrence
