package recurrence

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// warned is how far ahead Warnings looks for relevant changes of the clock.
const warned = 2 * 366 * 24 * time.Hour

// Warnings lists sentences about things at now that may surprise the rule's author: both day fields restricted (with the
// next times), dates that are rare or missing in some months, steps that do not divide their field, expressions that other
// programs read differently, days on which a change of the clock removes or adds runs, and an end. The same arguments give
// the same sentences.
func (r *Rule) Warnings(now time.Time) []string {
	var found []string
	if r.fields != nil {
		found = append(found, r.warnDays(now)...)
		found = append(found, r.warnSteps()...)
		found = append(found, r.warnDialects()...)
		found = append(found, r.warnClock(now)...)
	}
	return append(found, r.warnEnd(now)...)
}

func (r *Rule) warnDays(now time.Time) []string {
	var found []string
	d := &r.fields.days
	byMonth, byWeek := d.describeMonthDays() != "", d.describeWeekDays() != ""
	switch {
	case d.everyDay() && (byMonth || byWeek):
		found = append(found, "day of month and day of week are both given without * or ?, so a day on which either matches is enough, and one of them matches every day"+r.nextTimes(now, 3))
	case byMonth && byWeek:
		text := "day of month and day of week are both restricted, and a day on which either matches is enough"
		if d.monthDayStar || d.weekDayStar {
			text = "day of month and day of week are both restricted, and both must match, because one of them begins with * or ?"
		}
		found = append(found, text+r.nextTimes(now, 3))
	}
	if (d.weekDayStar || !byWeek) && !d.everyDay() {
		found = append(found, r.warnDates()...)
	}
	if next, ok := r.Next(now); ok && next.At.Sub(now) > 366*24*time.Hour {
		found = append(found, "the next time is more than a year ahead, on "+next.At.Format(time.DateOnly))
	}
	return found
}

// nextTimes returns "; the next times are ..." or nothing.
func (r *Rule) nextTimes(now time.Time, count int) string {
	var times []string
	for next, ok := r.Next(now); ok && len(times) < count; next, ok = r.Next(next.At) {
		times = append(times, next.At.Format("Mon "+time.RFC3339))
	}
	if len(times) == 0 {
		return ""
	}
	return "; the next times are " + list(times, "and")
}

// warnDates warns about days that some of the rule's months lack.
func (r *Rule) warnDates() []string {
	d, f := &r.fields.days, r.fields
	if d.fromLast != 0 || d.lastWeekday || d.monthDay == fieldTable[monthDayField].all() {
		return nil
	}
	latest := max(bits.Len64(d.monthDay), bits.Len64(d.nearest)) - 1
	const february = 1 << 2
	var missing []string
	for number := time.January; number <= time.December; number++ {
		if f.month>>number&1 != 0 && monthAt(2000, number).length < latest {
			missing = append(missing, number.String())
		}
	}
	switch {
	case len(missing) > 0:
		return []string{fmt.Sprintf("day %d does not exist in %s; it is left out there, not moved", latest, list(missing, "and"))}
	case latest == 29 && f.month == february:
		return []string{"29 February exists in leap years only"}
	case latest == 29 && f.month&february != 0:
		return []string{"day 29 does not exist in February except in leap years; it is left out there, not moved"}
	}
	return nil
}

// warnSteps warns about steps over a whole field that leave a shorter one at its end, or never take a second.
func (r *Rule) warnSteps() []string {
	var found []string
	for i, text := range r.texts {
		f := &fieldTable[i]
		for item := range strings.SplitSeq(text, ",") {
			_, stepText, stepped := strings.Cut(item, "/")
			step, ok := digits(stepText)
			if !stepped || !ok {
				continue
			}
			set, err := f.item(item)
			switch {
			case err != nil:
			case bits.OnesCount64(set) == 1 && step > 1:
				found = append(found, fmt.Sprintf("%s: %s selects %d alone", f.name, item, bits.TrailingZeros64(set)))
			case item[0] == '*' && i <= hourField && f.size%step != 0:
				found = append(found, fmt.Sprintf("%s: %s starts again at 0, so its last interval is %d and not %d", f.name, item, f.size%step, step))
			}
		}
	}
	return found
}

// warnDialects warns about expressions that classic cron or Quartz reads differently.
func (r *Rule) warnDialects() []string {
	var found []string
	for i, text := range r.texts {
		for item := range strings.SplitSeq(text, ",") {
			from, _, stepped := strings.Cut(item, "/")
			if stepped && !strings.ContainsAny(from, "*?-") {
				found = append(found, fmt.Sprintf("%s: %s goes from %s to the end by steps; classic cron takes %s alone", fieldTable[i].name, item, from, from))
			}
		}
	}
	weekDay := r.texts[weekDayField]
	quartz := strings.Contains(r.texts[monthDayField]+weekDay, "?") || strings.ContainsAny(weekDay, "#lL")
	if quartz && numberedWeekDay(weekDay) {
		found = append(found, fieldTable[weekDayField].name+": "+weekDay+" counts from 0, which is Sunday, as cron does; Quartz counts from 1: write names, such as MON-FRI")
	}
	return found
}

// numberedWeekDay reports whether a day of the week is written as a number.
func numberedWeekDay(text string) bool {
	for item := range strings.SplitSeq(text, ",") {
		item, _, _ = strings.Cut(item, "/")
		item, _, _ = strings.Cut(item, "#")
		if strings.ContainsAny(item, "0123456789") {
			return true
		}
	}
	return false
}

// warnClock warns about the next change of the clock that makes the rule run less or more often than on other days. A run
// that merely moves, or keeps to one of two passes, is no surprise: its occurrence has a mark. Rules for every hour are left
// out, because they continue through either change.
func (r *Rule) warnClock(now time.Time) []string {
	if r.fields.hour == everyHour {
		return nil
	}
	var gap, overlap []string
	first, last := r.limits()
	x, end := max(r.floor(now), first), min(r.floor(now.Add(warned)), last)
	steps := 0
	for x <= end && (gap == nil || overlap == nil) {
		g := r.zone.segment(x)
		x = g.end
		if x > end {
			break
		}
		lost, twice := g.closed()
		if wall, ok := r.fields.next(g.end+g.offset, g.end+g.offset+lost, &steps); ok && gap == nil {
			gap = r.warnGap(wall, g, lost, &steps)
		}
		if wall, ok := r.fields.next(g.end+g.after, g.end+g.after+twice, &steps); ok && overlap == nil {
			overlap = r.warnOverlap(wall)
		}
	}
	return append(gap, overlap...)
}

// warnGap describes the gap after g; wall is its first time.
func (r *Rule) warnGap(wall int64, g segment, lost int64, steps *int) []string {
	what := clock(wall) + " does not exist in " + r.zone.name
	at := r.time(g.end).Format(time.RFC3339)
	switch n := r.fields.count(wall, g.end+g.offset+lost, steps); {
	case !r.fields.fixed:
		return []string{what + "; second, minute or hour begins with *, so nothing is made up for it"}
	case r.gap == SkipGap:
		return []string{what + "; with dst_gap skip it does not run"}
	case r.gap == Shift:
		return nil
	case n > 1:
		return []string{fmt.Sprintf("%s, one of %d such times; with dst_gap run_at_transition one run stands for them, at %s", what, n, at)}
	case r.fields.count(g.end+g.after, g.end+g.after+1, steps) > 0:
		return []string{what + "; with dst_gap run_at_transition it becomes one with the run at " + at}
	}
	return nil
}

func (r *Rule) warnOverlap(wall int64) []string {
	what := clock(wall) + " comes twice in " + r.zone.name
	switch {
	case !r.fields.fixed:
		return []string{what + "; second, minute or hour begins with *, so it runs both times"}
	case r.overlap == Both:
		return []string{what + "; with dst_overlap both it runs both times"}
	}
	return nil
}

func clock(wall int64) string { return time.Unix(wall, 0).UTC().Format("2006-01-02 15:04:05") }

func (r *Rule) warnEnd(now time.Time) []string {
	next, ok := r.Next(now)
	switch {
	case !ok && !r.end.IsZero() && !r.end.After(now):
		return []string{"the schedule has ended"}
	case !ok:
		return []string{"there is no occurrence from now on"}
	case !r.end.IsZero():
		n := r.Count(now, r.end)
		return []string{fmt.Sprintf("the schedule ends at %s; %d occurrences are left, the next at %s",
			r.end.In(r.zone.location).Format(time.RFC3339), n, next.At.Format(time.RFC3339))}
	}
	return nil
}
