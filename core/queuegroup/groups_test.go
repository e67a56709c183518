package queuegroup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

func groupsOf(t *testing.T, patterns map[string][]string) Groups {
	t.Helper()
	g, err := New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestTypesBelongToGroups(t *testing.T) {
	g := groupsOf(t, map[string][]string{"media": {"video.*", "image.*", "thumbnail"}, "mail": {"mail.send", "mail.digest*"}})
	for typ, want := range map[string]string{
		"video.encode": "media", "video.a.b": "media", "image.x": "media", "thumbnail": "media", "thumbnails": "", "video": "", "videos.x": "", "a.video.x": "", "Video.x": "",
		"mail.send": "mail", "mail.sent": "", "mail.digest": "mail", "mail.digests": "mail", "mail": "", "": "", "belfry.alert": "",
	} {
		if got := g.Of(typ); got != want {
			t.Errorf("%q is of group %q, want %q", typ, got, want)
		}
	}
	if got := (Groups{}).Of("video.encode"); got != "" || len((Groups{}).Keys()) != len(core.Priorities) {
		t.Errorf("without groups it is of group %q", got)
	}
	var names []string
	for i, key := range g.Keys() {
		names = append(names, key.String())
		if at := IndexOf(key.Priority, i/len(core.Priorities)); at != i {
			t.Errorf("the place of %s is %d, want %d", key, at, i)
		}
	}
	if got := strings.Join(names, ", "); got != "critical, default, bulk, mail critical, mail default, mail bulk, media critical, media default, media bulk" {
		t.Errorf("queues are %s", got)
	}
}

// TestGroupsThatAreRefused: every fault is reported with its rule and with the names that the user wrote.
func TestGroupsThatAreRefused(t *testing.T) {
	many := map[string][]string{}
	for i := range Max + 1 {
		many["g"+strings.Repeat("x", i%20)+string(rune('a'+i/20))] = []string{"t" + strings.Repeat("x", i)}
	}
	for _, row := range []struct {
		patterns map[string][]string
		say      string
	}{
		{map[string][]string{"a": {"x"}, "b": {"x"}}, "x is in two groups, a (x) and b (x)"},
		{map[string][]string{"a": {"video.*"}, "b": {"video.encode"}}, "video.encode is in two groups, a (video.*) and b (video.encode)"},
		{map[string][]string{"a": {"video.encode"}, "b": {"video.*"}}, "video.encode is in two groups, a (video.encode) and b (video.*)"},
		{map[string][]string{"a": {"v*"}, "b": {"video.*"}}, "video.* is in two groups, a (v*) and b (video.*)"},
		{map[string][]string{"a": {"video.*"}, "b": {"v*"}}, "video.* is in two groups"},
		{map[string][]string{"a": {"video*"}, "b": {"video"}}, "video is in two groups"},
		{map[string][]string{"a": {"x", "x"}}, "group a: x is given twice"},
		{map[string][]string{"a": {"x.*", "x.y"}}, "group a: x.y is given twice, by x.* and x.y"},
		{map[string][]string{"a": {}}, "group a has no types"},
		{map[string][]string{"a": {"*"}}, "* is every type"},
		{map[string][]string{"a": {""}}, `no type matches ""`},
		{map[string][]string{"a": {"*.video"}}, `no type matches "*.video"`},
		{map[string][]string{"a": {"video.*.x"}}, `no type matches "video.*.x"`},
		{map[string][]string{"a": {"video..*"}}, `no type matches "video..*"`},
		{map[string][]string{"a": {"video."}}, `no type matches "video."`},
		{map[string][]string{"a": {"1x"}}, `no type matches "1x"`},
		{map[string][]string{"a": {"a b"}}, `no type matches "a b"`},
		{map[string][]string{"a": {strings.Repeat("x", core.MaxTypeBytes) + "*"}}, "no type matches"},
		{map[string][]string{"a": {"belfry.*"}}, `"belfry.*" is Belfry's own`},
		{map[string][]string{"a": {"Belfry.alert"}}, "is Belfry's own"},
		{map[string][]string{"Media": {"x"}}, `group "Media": want a name of 1 to 30`},
		{map[string][]string{"": {"x"}}, `group "": want a name`},
		{map[string][]string{"a.b": {"x"}}, `group "a.b": want a name`},
		{map[string][]string{strings.Repeat("g", 31): {"x"}}, "want a name of 1 to 30"},
		{map[string][]string{"default": {"x"}}, `group "default": want another name`},
		{map[string][]string{"ungrouped": {"x"}}, `group "ungrouped": want another name`},
		{many, "there are 51 groups, want at most 50"},
	} {
		if _, err := New(row.patterns); err == nil || !strings.Contains(err.Error(), row.say) {
			t.Errorf("%v: %v, want %q", row.patterns, err, row.say)
		}
	}
	_, err := New(map[string][]string{"a": {"*", "x"}, "default": {"x"}})
	for _, say := range []string{"* is every type", "x is in two groups", `"default"`} {
		if err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("of several faults one is missing, %q: %v", say, err)
		}
	}
}

// noting is a Queue whose topics record the messages sent to them. The topics of the group that is away return an error.
type noting struct {
	core.Queue
	group string
	away  bool
	sent  map[string][]int64
	open  *int
}

func (q *noting) OpenTopic(_ context.Context, p core.Priority) (core.Topic, error) {
	if q.away && p == core.Bulk {
		return nil, errors.New("no such queue")
	}
	*q.open++
	return notingTopic{q}, nil
}

type notingTopic struct{ *noting }

func (q notingTopic) Send(_ context.Context, messages []core.Message) []error {
	if q.away {
		return []error{errors.New("away")}[:min(1, len(messages))]
	}
	for _, m := range messages {
		q.sent[q.group] = append(q.sent[q.group], m.ID)
	}
	return make([]error, len(messages))
}

func (q notingTopic) Close(context.Context) error { *q.open--; return nil }

// TestMessagesGoToTheQueueOfTheirType: each message goes to the queue of its type's group. If one queue is away, only its
// own messages fail.
func TestMessagesGoToTheQueueOfTheirType(t *testing.T) {
	g := groupsOf(t, map[string][]string{"media": {"video.*"}, "mail": {"mail.send"}})
	sent, open := map[string][]int64{}, 0
	var queues []*noting
	queue, err := NewQueue(g, func(group string) (core.Queue, error) {
		queues = append(queues, &noting{group: group, sent: map[string][]int64{}, open: &open})
		return queues[len(queues)-1], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	topic, err := queue.OpenTopic(t.Context(), core.Default)
	if err != nil {
		t.Fatal(err)
	}
	messages := []core.Message{{ID: 1, Type: "echo"}, {ID: 2, Type: "video.a"}, {ID: 3, Type: "mail.send"}, {ID: 4, Type: "video.b"}, {ID: 5}}
	if errs := topic.Send(t.Context(), messages); len(errs) != 5 || errors.Join(errs...) != nil {
		t.Errorf("errors are %v", errs)
	}
	topic.Send(t.Context(), messages[1:2])
	topic.Send(t.Context(), nil)
	for _, q := range queues {
		sent[q.group] = q.sent[q.group]
	}
	if !slices.Equal(sent[""], []int64{1, 5}) || !slices.Equal(sent["media"], []int64{2, 4, 2}) || !slices.Equal(sent["mail"], []int64{3}) {
		t.Errorf("sent were %v", sent)
	}
	for _, q := range queues {
		q.away = q.group == "media"
	}
	for i, err := range topic.Send(t.Context(), messages) {
		if (err != nil) != (messages[i].Type == "video.a" || messages[i].Type == "video.b") {
			t.Errorf("message %d: %v", messages[i].ID, err)
		}
	}
	if _, err := queue.OpenTopic(t.Context(), core.Bulk); err == nil || err.Error() != "group media: no such queue" {
		t.Errorf("a topic that cannot be opened: %v", err)
	}
	if err := topic.Close(t.Context()); err != nil || open != 0 {
		t.Errorf("%d topics are open, %v", open, err)
	}
	if plain, err := NewQueue(Groups{}, func(string) (core.Queue, error) { return queues[0], nil }); err != nil || plain != core.Queue(queues[0]) {
		t.Errorf("without groups: %v, %v", plain, err)
	}
}
