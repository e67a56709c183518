package recurrence

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

// TestFieldsEqualThoseOfRobfig compares the parsed fields with those of robfig/cron where both give an expression the same
// meaning: no wrapping ranges, no 7, no L, W or #.
func TestFieldsEqualThoseOfRobfig(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	parser := cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	compared, refused := 0, 0
	for range 6000 {
		var texts []string
		for i := range fieldTable {
			texts = append(texts, robfigField(rng, &fieldTable[i]))
		}
		text := strings.Join(texts, " ")
		ours, err := parseExpression(text)
		theirs, their := parser.Parse(text)
		if their != nil {
			t.Fatalf("%q: robfig/cron: %v", text, their)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "no such date") {
				t.Fatalf("%q: %v", text, err)
			}
			refused++
			continue
		}
		spec, ok := theirs.(*cron.SpecSchedule)
		if !ok {
			t.Fatalf("robfig/cron answers with %T", theirs)
		}
		const star = 1 << 63
		f := ours.fields
		for name, pair := range map[string][2]uint64{
			"second": {f.second, spec.Second}, "minute": {f.minute, spec.Minute}, "hour": {f.hour, spec.Hour},
			"day of month": {f.days.monthDay, spec.Dom}, "month": {f.month, spec.Month}, "day of week": {f.days.weekDay, spec.Dow},
		} {
			if pair[0] != pair[1]&^star {
				t.Fatalf("%q: %s is %b, with robfig/cron %b", text, name, pair[0], pair[1]&^star)
			}
		}
		compared++
		// Robfig searches only five years ahead, slowly, and takes a step as a star only if it is 1.
		if steps := strings.HasPrefix(texts[3], "*/") || strings.HasPrefix(texts[5], "*/"); steps || rng.IntN(40) > 0 {
			continue
		}
		rule := &Rule{expression: ours, zone: mustZone(t, "UTC")}
		from := time.Unix(rng.Int64N(60*365*86400), 0).UTC()
		if want := spec.Next(from); !want.IsZero() {
			if got, _ := rule.Next(from); !got.At.Equal(want) {
				t.Fatalf("%q: after %s comes %s, with robfig/cron %s", text, from, got.At, want)
			}
		}
	}
	t.Logf("%d compared, %d with dates that never come", compared, refused)
	if compared < 5000 {
		t.Errorf("only %d could be compared", compared)
	}
}

func mustZone(t *testing.T, name string) *zone {
	t.Helper()
	var zones *Cache
	found, _ := zones.find(name)
	if found == nil {
		t.Fatalf("no zone %s", name)
	}
	return found
}

// robfigField makes a random field that both sides support.
func robfigField(rng *rand.Rand, f *field) string {
	if rng.IntN(4) == 0 {
		return f.star[rng.IntN(len(f.star)):][:1]
	}
	value := func(low int) int { return low + rng.IntN(f.max-low+1) }
	var items []string
	for range 1 + rng.IntN(3) {
		a := value(f.min)
		b, step := value(a), 1+rng.IntN(f.size)
		name := fmt.Sprint(a)
		if f.names != nil && rng.IntN(2) == 0 {
			name = strings.ToUpper(f.names[a-f.min])
		}
		items = append(items, []string{name, fmt.Sprintf("%s-%d", name, b), fmt.Sprintf("%s-%d/%d", name, b, step), fmt.Sprintf("%s/%d", name, step)}[rng.IntN(4)])
	}
	if rng.IntN(8) == 0 {
		return fmt.Sprintf("*/%d", 1+rng.IntN(f.size))
	}
	return strings.Join(items, ",")
}
