package postgres

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// submitRounds bounds how often a submit starts again because a dedupe key came free while it looked.
const submitRounds = 10

// Submit writes all jobs in one transaction and one round trip; see core.SubmitStore.
func (s *Store) Submit(ctx context.Context, jobs []core.NewJob) (answers []core.Submitted, err error) {
	for round := 1; ; round++ {
		err := s.withNewIDs(ctx, func() error {
			var calls []wire.Call
			if answers, calls = s.submitCalls(jobs); len(calls) == 0 {
				return nil
			}
			return s.sendWrite(ctx, keySubject(jobs), calls...)
		})
		if again := hasCode(err, codeSerialization) || hasCode(err, codeDeadlock); !again || round == submitRounds {
			return answers, wrap("submit", err)
		}
	}
}

// keySubject names the dedupe key of a single job as what calls may wait for.
func keySubject(jobs []core.NewJob) string {
	if len(jobs) != 1 || jobs[0].DedupeKey == "" {
		return ""
	}
	return "key " + jobs[0].Tenant + "\x00" + jobs[0].DedupeKey
}

// submitCalls are the statements that write jobs, none for none, and the answers that they fill in.
func (s *Store) submitCalls(jobs []core.NewJob) (answers []core.Submitted, calls []wire.Call) {
	plain, keyed := split(jobs)
	answers = make([]core.Submitted, len(jobs))
	if len(keyed) > 0 { // first: calls that meet a lock are sent again only where no row was passed on yet
		calls = append(calls, s.submitKeyed(keyed, answers)...)
	}
	if len(plain) > 0 {
		calls = append(calls, s.submitPlain(plain, answers))
	}
	return answers, calls
}

// item is one job and its place in the call.
type item struct {
	*core.NewJob
	at int
}

// split separates jobs without a dedupe key from those with one, the latter by tenant and key.
func split(jobs []core.NewJob) (plain, keyed []item) {
	without := 0
	for i := range jobs {
		if jobs[i].DedupeKey == "" {
			without++
		}
	}
	plain = make([]item, 0, without)
	for i := range jobs {
		if jobs[i].DedupeKey == "" {
			plain = append(plain, item{&jobs[i], i})
		} else {
			keyed = append(keyed, item{&jobs[i], i})
		}
	}
	slices.SortStableFunc(keyed, byKey)
	return plain, keyed
}

func byKey(a, b item) int {
	return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.DedupeKey, b.DedupeKey))
}

func (s *Store) submitPlain(plain []item, answers []core.Submitted) wire.Call {
	next := 0
	return s.sql.call("submit", s.submitArgs(plain, 1).Int8(s.given.highest.Load()), func(r wire.Row) error {
		s.given.note(r.Int(0))
		answers[plain[next].at] = core.Submitted{
			ID: r.Int(0), RunAt: r.Time(1), CreatedAt: r.Time(2), Status: core.Status(r.Int(3)), Token: firstToken,
		}
		next++
		return nil
	})
}

// firstToken is the lease token of a new row, so that the zero Ref points at nothing.
const firstToken = 1

// submitKeyed writes the first job of each key and reads back who holds the keys.
func (s *Store) submitKeyed(keyed []item, answers []core.Submitted) []wire.Call {
	first := slices.CompactFunc(slices.Clone(keyed), func(a, b item) bool { return byKey(a, b) == 0 })
	written := map[int64]bool{}
	holders := make([]core.Job, len(first))

	insert := s.submitArgs(first, 2)
	wire.Texts(insert, first, func(n *item) string { return n.DedupeKey })
	insert.Int8(s.given.highest.Load())
	look := wire.NewArgs(3)
	wire.Texts(look, first, func(n *item) string { return n.Tenant })
	wire.Texts(look, first, func(n *item) string { return n.DedupeKey })
	look.Bool(len(keyed) == 1)
	read := 0
	return []wire.Call{
		s.guard(glanceWait),
		s.sql.call("submit_keyed", insert, func(r wire.Row) error {
			s.given.note(r.Int(0))
			written[r.Int(0)] = true
			return nil
		}),
		s.sql.call("submit_holders", look, func(r wire.Row) error {
			holders[r.Int(jobWidth)-1] = job(r)
			if read++; read == len(first) {
				answerKeyed(keyed, first, holders, written, answers)
			}
			return nil
		}),
	}
}

// answerKeyed tells each job who holds its key: itself, where it is the first of the call and was written.
func answerKeyed(keyed, first []item, holders []core.Job, written map[int64]bool, answers []core.Submitted) {
	at := 0
	for _, n := range keyed {
		if byKey(first[at], n) != 0 {
			at++
		}
		h := holders[at]
		answer := core.Submitted{ID: h.ID, RunAt: h.RunAt, CreatedAt: h.CreatedAt, Status: h.Status, Token: h.LeaseToken}
		if n.at != first[at].at || !written[h.ID] {
			answer.Existing = &h
		}
		answers[n.at] = answer
	}
}

// submitArgs encodes the parameters that all statements of a submit share, with room for more after them. What no job of the
// batch asks for is sent as an
// empty array, which the server fills up with nulls.
func (s *Store) submitArgs(jobs []item, more int) *wire.Args {
	a := s.args(17 + more)
	wire.Texts(a, jobs, func(n *item) string { return n.Type })
	wire.JSONs(a, jobs, func(n *item) []byte {
		if len(n.Payload) == 0 {
			return []byte("{}")
		}
		return n.Payload
	})
	wire.Int2s(a, jobs, func(n *item) int16 { return int16(cmp.Or(n.Priority, core.Default)) })
	wire.Texts(a, jobs, func(n *item) string { return n.Tenant })
	wire.Times(a, jobs, func(n *item) time.Time { return n.RunAt })
	wire.IntervalsOrNull(a, jobs, func(n *item) time.Duration { return n.Delay })
	wire.Int4s(a, jobs, func(n *item) int { return cmp.Or(n.MaxAttempts, core.DefaultMaxAttempts) })
	wire.Int8sOrNull(a, jobs, func(n *item) int64 { return n.Timeout.Microseconds() })
	wire.Times(a, jobs, func(n *item) time.Time { return n.ExpiresAt })
	wire.TextsOrNull(a, jobs, func(n *item) string { return durationsLiteral(n.Backoff) })
	wire.JSONs(a, jobs, func(n *item) []byte { return n.Target })
	wire.TextsOrNull(a, jobs, func(n *item) string { return textsLiteral(n.Tags) })
	wire.TextsOrNull(a, jobs, func(n *item) string { return n.Trace })
	wire.BoolsOrNull(a, jobs, func(n *item) bool { return n.Queued })
	wire.IntervalsOrNull(a, jobs, func(n *item) time.Duration { return n.QueuedLease })
	wire.Int8sOrNull(a, jobs, func(n *item) int64 { return n.Fence })
	wire.IntervalsOrNull(a, jobs, func(n *item) time.Duration { return n.ExpiresAfter })
	return a
}

// durationsLiteral is a bigint[] of microseconds as the server reads it from text; "" for none.
func durationsLiteral(list []time.Duration) string {
	if list == nil {
		return ""
	}
	numbers := make([]int64, len(list))
	for i, d := range list {
		numbers[i] = d.Microseconds()
	}
	return numbersLiteral(numbers)
}

// numbersLiteral is a bigint[] as the server reads it from text.
func numbersLiteral(list []int64) string {
	b := []byte{'{'}
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(append(b, '}'))
}

// textsLiteral is a text[] as the server reads it from text; "" for none.
func textsLiteral(list []string) string {
	if list == nil {
		return ""
	}
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = `"` + escape.Replace(s) + `"`
	}
	return "{" + strings.Join(parts, ",") + "}"
}
