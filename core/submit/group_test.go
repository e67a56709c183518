package submit

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// Callers that submit one job after another share commits from then on: those just answered are not too late for the next one.
func TestCallersAnsweredShareTheNextCommit(t *testing.T) {
	const callers, each = 16, 50
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that no luck of processors decides who comes first
	for name, submit := range map[string]func(*testing.T, *Submitter, string) error{
		"plain": func(t *testing.T, s *Submitter, _ string) error {
			_, err := s.Submit(t.Context(), named(1))
			return err
		},
		"under keys": func(t *testing.T, s *Submitter, key string) error {
			_, err := oneOnce(t.Context(), s, key, named(1), renderID)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &submitStore{}
				s := New(store, Options{InFlight: 1})
				var group sync.WaitGroup
				for c := range callers {
					group.Go(func() {
						for i := range each {
							if err := submit(t, s, fmt.Sprint(c, i)); err != nil {
								t.Error(err)
							}
						}
					})
				}
				group.Wait()
				if n := len(store.sizes()); n > each*3/2 { // one by one comes to twice as many
					t.Errorf("%d callers with %d jobs each took %d commits: %v", callers, each, n, store.sizes())
				}
			})
		})
	}
}
