package sqlite

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
)

// failure is a group of jobs that failed for good.
type failure struct{ typ, group string }

// subject is the subject of its alert.
func (f failure) subject() string { return f.typ + "/" + f.group }

// failureNote counts them. newest is the id of one whose error is told.
type failureNote struct{ count, newest, at int64 }

// failed notes a job that failed for good, when the operation ends.
func (t *tx) failed(f failure, id int64) {
	if t.failures == nil {
		t.failures = map[failure]failureNote{}
	}
	t.failures[f] = failureNote{t.failures[f].count + 1, id, t.now}
}

// noteFailures writes what the operation noted. A note that cannot be written is left out, and named: an alert lacks it, but no
// job is held up.
func (t *tx) noteFailures() error {
	for f, n := range t.failures {
		_, err := t.exec("note_failure", f.typ, f.group, n.count, n.newest, n.at)
		if isRowFault(err) && !undoes(err) {
			err = t.setApart(&core.RowFault{Kind: core.ApartNote, Act: "finish", Error: errorText(err)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// WatchFailures raises and clears alerts about jobs that failed for good.
func (s *Store) WatchFailures(ctx context.Context) (raised int, err error) {
	err = s.carefully(ctx, func(t *tx) (err error) {
		if raised, err = t.raiseFailures(); err != nil {
			return err
		}
		_, err = t.alone(core.RowFault{Kind: core.ApartAlert, Name: core.AlertJobFailed, Act: "clear"}, func() error {
			_, err := t.exec("clear_failures", core.AlertJobFailed, t.now, t.now-tick.FailureQuiet.Microseconds())
			return err
		})
		return err
	})
	return raised, wrap("watch failures", err)
}

// raiseFailures takes notes and raises their alerts, or counts them to those that are open.
func (t *tx) raiseFailures() (raised int, err error) {
	noted := map[failure]failureNote{}
	err = t.query("take_failures", func(r row) error {
		noted[failure{r.text(0), r.text(1)}] = failureNote{r.int(2), r.int(3), r.int(4)}
		return nil
	}, tick.FailureNotes)
	if err != nil || len(noted) == 0 {
		return 0, err
	}
	open := openFailures{subjects: map[string]bool{}, ofType: map[string]int{}}
	err = t.query("open_failures", func(r row) error {
		open.add(r.text(0))
		return nil
	}, core.AlertJobFailed)
	if err != nil {
		return 0, err
	}
	order := slices.SortedFunc(maps.Keys(noted), func(a, b failure) int { return cmp.Compare(noted[a].newest, noted[b].newest) })
	for _, f := range order {
		subject, fresh := open.place(f)
		if fresh {
			raised++
		}
		_, err := t.alone(core.RowFault{Kind: core.ApartAlert, Name: subject, Act: "raise"}, func() error {
			return t.raiseFailure(subject, subject != f.subject(), noted[f])
		})
		if err != nil {
			return raised, err
		}
	}
	return raised, nil
}

func (t *tx) raiseFailure(subject string, shared bool, n failureNote) error {
	detail := tick.FailureDetail
	if shared {
		detail = tick.FailuresDetail
	}
	dead, err := t.row("dead_error", n.newest)
	if err != nil {
		return err
	}
	if dead != nil {
		if errs := decode[[]core.AttemptError](dead.raw(1)); len(errs) > 0 {
			text := []rune(errs[len(errs)-1].Error)
			detail += string(text[:min(len(text), tick.FailureText)])
		}
	}
	_, err = t.exec("raise_failure", core.AlertJobFailed, subject, detail, n.count, t.now, n.at)
	return err
}

// openFailures are the alerts about failures that are open.
type openFailures struct {
	subjects map[string]bool
	ofType   map[string]int // those of one group each
}

func (o *openFailures) add(subject string) {
	o.subjects[subject] = true
	if slash := strings.LastIndexByte(subject, '/'); slash >= 0 && subject[slash:] != "/other" {
		o.ofType[subject[:slash]]++
	}
}

// place is the subject of the alert that a group is counted to, and whether that alert is new.
func (o *openFailures) place(f failure) (subject string, fresh bool) {
	room := len(o.subjects) < tick.FailuresOfAll
	switch subject = f.subject(); {
	case o.subjects[subject]:
		return subject, false
	case room && o.ofType[f.typ] < tick.FailuresOfType:
	case room || o.subjects[f.typ+"/other"]:
		subject = f.typ + "/other"
	default:
		subject = "other"
	}
	fresh = !o.subjects[subject]
	o.add(subject)
	return subject, fresh
}
