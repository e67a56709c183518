package work

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/core/typecache/typestoretest"
)

var noWork = core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) { return nil, nil })

// madeGroups makes groups of patterns that are right.
func madeGroups(t *testing.T, patterns map[string][]string) queuegroup.Groups {
	t.Helper()
	g, err := queuegroup.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A worker receives from the queues of its groups, and says of others' types neither that it handles nor that it delivers them.
func TestAWorkerAnnouncesTheTypesOfItsGroups(t *testing.T) {
	groups := madeGroups(t, map[string][]string{"media": {"video.*", "hook.media"}, "mail": {"mail.*"}})
	for name, row := range map[string]struct {
		handles  []string
		groups   []string
		delivers bool
		function bool // it is given its messages, and knows the queues by Pass
		queues   string
		types    string
		all      bool // it says that it delivers
	}{
		"by its handlers":             {handles: []string{"video.a", "mail.send"}, queues: "mail media", types: "mail.send video.a"},
		"of no group":                 {handles: []string{"echo"}, queues: "ungrouped", types: "echo"},
		"told":                        {handles: []string{"video.a", "mail.send", "echo"}, groups: []string{"media"}, queues: "media", types: "video.a"},
		"told no group":               {handles: []string{"video.a", "echo"}, groups: []string{""}, queues: "ungrouped", types: "echo"},
		"delivers":                    {handles: []string{"video.a"}, delivers: true, queues: "ungrouped mail media", types: "video.a", all: true},
		"told, and delivers":          {handles: []string{"video.a"}, groups: []string{"media"}, delivers: true, queues: "media", types: "hook.media video.a"},
		"delivers only":               {groups: []string{"media"}, delivers: true, queues: "media", types: "hook.media"},
		"told all, and delivers":      {handles: []string{"video.a"}, groups: []string{"mail", "", "media"}, delivers: true, queues: "ungrouped mail media", types: "video.a", all: true},
		"a function":                  {handles: []string{"video.a", "mail.send"}, function: true, delivers: true, types: "mail.send video.a", all: true},
		"a function of a group":       {handles: []string{"video.a", "mail.send"}, groups: []string{"mail"}, function: true, types: "mail.send"},
		"a function that is told two": {handles: []string{"echo", "mail.send"}, groups: []string{"mail", ""}, function: true, delivers: true, types: "echo hook.other mail.send"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				known := typestoretest.NewStore()
				known.Deliver("hook.media", "hook.other")
				store, queues := newMemStore(), map[string]*memQueue{}
				grouped, err := queuegroup.NewQueue(groups, func(group string) (core.Queue, error) {
					queues[group] = newMemQueue(time.Minute)
					return queues[group], nil
				})
				if err != nil {
					t.Fatal(err)
				}
				handlers := core.Handlers{}
				for _, typ := range row.handles {
					handlers[typ] = noWork
				}
				o := Options{Groups: row.groups}
				if row.delivers {
					o.Deliver, o.Types = noWork, typecache.New(known, typecache.Options{})
					go o.Types.Run(t.Context())
					synctest.Wait()
				}
				queue := grouped
				if row.function {
					o.Pass, queue = grouped, newMemQueue(time.Minute)
				}
				r := startRig(t, store, handlers, o, func(ctx context.Context, w *Worker) error { return w.Receive(ctx, queue) })
				time.Sleep(time.Second)
				store.mu.Lock()
				said := store.present["w"]
				store.mu.Unlock()
				if got := strings.Join(said.Types, " "); got != row.types || said.Delivers != row.all {
					t.Errorf("announced are %q, all that is delivered: %v; want %q, %v", got, said.Delivers, row.types, row.all)
				}
				var received []string
				for _, group := range []string{"", "mail", "media"} {
					if queues[group].counts().opened == len(core.Priorities) {
						received = append(received, groupTitles([]string{group})...)
					}
				}
				if got := strings.Join(received, " "); got != row.queues {
					t.Errorf("it receives from the queues of %q, want %q", got, row.queues)
				}
				if keys := r.worker.ReceivedQueues(queue); !row.function && len(keys) != len(received)*len(core.Priorities) {
					t.Errorf("it says that it receives from %v", keys)
				}
			})
		})
	}
}

// What comes to be delivered later is announced as soon as it is known.
func TestAWorkerOfAGroupAnnouncesTypesThatComeToBeDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		groups := madeGroups(t, map[string][]string{"media": {"video.*"}})
		known, store := typestoretest.NewStore(), newMemStore()
		queue, err := queuegroup.NewQueue(groups, func(string) (core.Queue, error) { return newMemQueue(time.Minute), nil })
		if err != nil {
			t.Fatal(err)
		}
		types := typecache.New(known, typecache.Options{Every: time.Second})
		go types.Run(t.Context())
		newQueueRig(t, store, queue, core.Handlers{}, Options{Groups: []string{"media"}, Deliver: noWork, Types: types})
		time.Sleep(time.Second)
		known.Deliver("video.new", "mail.new")
		time.Sleep(2 * time.Second) // sooner than it would look by itself
		store.mu.Lock()
		defer store.mu.Unlock()
		if said := store.present["w"]; !slices.Equal(said.Types, []string{"video.new"}) || said.Delivers {
			t.Errorf("announced is %+v", said)
		}
	})
}

func TestAWorkerOfNoUseIsRefused(t *testing.T) {
	groups := madeGroups(t, map[string][]string{"media": {"video.*"}})
	for say, asked := range map[string]string{"no handler for a type of its queues, media: it handles echo": "media", `there is no group "film"`: "film"} {
		worker, err := New(newMemStore(), core.Handlers{"echo": noWork}, Options{ID: "w", Groups: []string{asked}})
		if err != nil {
			t.Fatal(err)
		}
		queue, err := queuegroup.NewQueue(groups, func(string) (core.Queue, error) { return newMemQueue(time.Minute), nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := worker.Receive(t.Context(), queue); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", asked, err)
		}
	}
}
