package sqlite

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

var background = context.Background()

// childSubmit submits from several goroutines for as long as it lives, ends some of the jobs, and writes a line
// for each answer it got. It never ends by itself.
func childSubmit(path string) int {
	store, err := Open(background, path, Options{})
	if err != nil {
		fmt.Println("open:", err)
		return 1
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	say := func(word string, id int64) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = os.Stdout.WriteString(word + " " + strconv.FormatInt(id, 10) + "\n") // unbuffered: said is said
	}
	for i := range 8 {
		wg.Go(func() {
			for n := 0; ; n++ {
				jobs := make([]core.NewJob, 1+n%3)
				for k := range jobs {
					jobs[k] = core.NewJob{Type: fmt.Sprint("t", i), Payload: json.RawMessage(fmt.Sprintf(`"%s"`, strings.Repeat("x", 50*(n%40))))}
				}
				out, err := store.Submit(background, jobs)
				if err != nil {
					fmt.Println("submit:", err)
					return
				}
				for _, one := range out {
					say("accepted", one.ID)
				}
				if n%4 == 3 {
					finishSome(store, i, int64(n), say)
				}
			}
		})
	}
	wg.Wait()
	return 1
}

func finishSome(store *Store, i int, n int64, say func(string, int64)) {
	claimed, err := store.ClaimDue(background, core.ClaimRequest{ClaimID: n, Lease: 1e9, Quotas: []core.Quota{{Priority: core.Default, Type: fmt.Sprint("t", i), Limit: 3}}})
	if err != nil {
		fmt.Println("claim:", err)
		return
	}
	ends := make([]core.End, len(claimed.Jobs))
	for k, job := range claimed.Jobs {
		ends[k] = core.End{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Outcome: core.EndDone}
	}
	if _, err := store.Finish(background, ends); err != nil {
		fmt.Println("finish:", err)
		return
	}
	for _, end := range ends {
		say("done", end.ID)
	}
}

// TestKilledProcessLosesNothing kills a process in the middle of submits, again and again on one file: every id
// it was told is there afterwards, everything it was told is done is done, and no id is ever given out twice.
func TestKilledProcessLosesNothing(t *testing.T) {
	const kills = 6
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	path := filepath.Join(t.TempDir(), "belfry.db")
	accepted, done := map[int64]bool{}, map[int64]bool{}
	for range kills {
		killAfter(t, path, 20+chance.IntN(700), func(word string, id int64) {
			if word == "done" {
				done[id] = true
				return
			}
			if accepted[id] {
				t.Errorf("id %d was given out twice", id)
			}
			accepted[id] = true
		})
		store := openHere(t, path, Options{})
		for id := range accepted {
			job, err := store.Get(t.Context(), id)
			if err != nil || done[id] && job.Status != core.Done {
				t.Errorf("job %d after a kill: %s, %v", id, job.Status, err)
			}
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d accepted, %d done, %d kills", len(accepted), len(done), kills)
	if len(done) == 0 {
		t.Error("no job was done in any round")
	}
}

// killAfter starts a process that submits, kills it once it has said so many lines, and tells all it said.
func killAfter(t *testing.T, path string, lines int, tell func(word string, id int64)) {
	t.Helper()
	cmd := child(t, "submit", path)
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(said)
	n := 0
	for ; scanner.Scan(); n++ {
		word, number, ok := strings.Cut(scanner.Text(), " ")
		id, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil {
			if n < lines {
				t.Errorf("the process said %q", scanner.Text())
			}
			continue // cut off by the kill
		}
		tell(word, id)
		if n == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the process ended by itself")
	}
	if n < lines {
		t.Errorf("the process said %d lines, want %d", n, lines)
	}
}
