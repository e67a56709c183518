package boot

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

// setQueues sets the URLs of the priorities' queues, and the settings given.
func setQueues(t *testing.T, more map[string]string) {
	t.Helper()
	clean(t)
	for _, p := range core.Priorities {
		t.Setenv("BELFRY_QUEUE_"+strings.ToUpper(p.String())+"_URL", "mem://"+p.String())
	}
	for name, value := range more {
		t.Setenv(name, value)
	}
}

// opened is a Queue that knows its URLs.
type opened struct {
	core.Queue
	urls map[core.Priority]string
}

func TestQueuesOfGroupsAreOpened(t *testing.T) {
	setQueues(t, map[string]string{"BELFRY_QUEUES": "media=video.*,image.*;mail=mail.send", "BELFRY_QUEUES_URL": "mem://{group}/{priority}?x={group}"})
	s, err := ReadSettings()
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	queue, err := s.OpenQueues(func(of map[core.Priority]string) (core.Queue, error) {
		for _, p := range core.Priorities {
			urls = append(urls, of[p])
		}
		return opened{urls: of}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "mem://critical mem://default mem://bulk mem://mail/critical?x=mail mem://mail/default?x=mail mem://mail/bulk?x=mail mem://media/critical?x=media mem://media/default?x=media mem://media/bulk?x=media"
	if got := strings.Join(urls, " "); got != want {
		t.Errorf("opened were\n%s, want\n%s", got, want)
	}
	groups := queuegroup.GroupsOf(queue)
	if groups.Of("video.x") != "media" || groups.Of("mail.send") != "mail" || groups.Of("echo") != "" {
		t.Errorf("groups are %v", groups)
	}
	if got := s.TakenGroups(); got != nil {
		t.Errorf("unset: %v", got)
	}
	away := func(of map[core.Priority]string) (core.Queue, error) {
		if of[core.Bulk] == "mem://bulk" {
			return opened{}, nil
		}
		return nil, errors.New("away")
	}
	if _, err := s.OpenQueues(away); err == nil || err.Error() != "group mail: BELFRY_QUEUES_URL: away" {
		t.Errorf("a queue that cannot be opened: %v", err)
	}
	t.Setenv("BELFRY_WORKER_QUEUES", "media,ungrouped")
	if s, err = ReadSettings(); err != nil || !slices.Equal(s.TakenGroups(), []string{"media", ""}) {
		t.Errorf("%v, %v", s.TakenGroups(), err)
	}
}

// Every fault is named by its setting and its rule, and no URL is repeated.
func TestGroupSettingsThatAreRefused(t *testing.T) {
	const url = "mem://{group}-{priority}"
	for _, row := range []struct{ queues, url, worker, say string }{
		{"media=video.*;film=video.x", url, "", "BELFRY_QUEUES: video.x is in two groups, film (video.x) and media (video.*): a type may be in one only"},
		{"media=video.*;media=x", url, "", "BELFRY_QUEUES: group media is given twice"},
		{"media=video.*;", url, "", "BELFRY_QUEUES: group 2 of 2 is empty"},
		{"media", url, "", `BELFRY_QUEUES: group 1 of 1 is "media", want NAME=TYPE,TYPE`},
		{"media=", url, "", "BELFRY_QUEUES: group media has no types"},
		{"media=a,,b", url, "", `BELFRY_QUEUES: group media: no type matches ""`},
		{"media=a, b", url, "", `BELFRY_QUEUES: group media: no type matches " b"`},
		{"media=a=b", url, "", `BELFRY_QUEUES: group media: no type matches "a=b"`},
		{"=a", url, "", `BELFRY_QUEUES: group "": want a name`},
		{"default=a", url, "", `BELFRY_QUEUES: group "default": want another name`},
		{"media=belfry.alert", url, "", "BELFRY_QUEUES: group media: "},
		{"media=*", url, "", "BELFRY_QUEUES: group media: * is every type"},
		{"media=echo; mail=sleep", url, "", `BELFRY_QUEUES: group " mail": `},
		{"media=a;%=b", url, "", `BELFRY_QUEUES: group "%": `},
		{"media=a", "", "", "BELFRY_QUEUES_URL: does not hold {group}"},
		{"media=a", "mem://canary-{group}", "", "BELFRY_QUEUES_URL: does not hold {priority}"},
		{"media=a", "mem://canary-{priority}", "", "BELFRY_QUEUES_URL: does not hold {group}"},
		{"media=a", "canary{group}{priority}", "", "BELFRY_QUEUES_URL: want a gocloud URL"},
		{"", url, "", "BELFRY_QUEUES_URL: is set, but there are no groups: set BELFRY_QUEUES, too"},
		{"a=x;a-=y", "mem://{group}{priority}", "", ""},
		{"media=a", url, "film", `BELFRY_WORKER_QUEUES: there is no group "film", want some of media, ungrouped`},
		{"media=a", url, "media,media", "BELFRY_WORKER_QUEUES: media is given twice"},
		{"", "", "media", "BELFRY_WORKER_QUEUES: names media, but there are no groups: set BELFRY_QUEUES, too"},
		{"media=a", url, "media,ungrouped", ""},
	} {
		more := map[string]string{}
		for name, value := range map[string]string{"BELFRY_QUEUES": row.queues, "BELFRY_QUEUES_URL": row.url, "BELFRY_WORKER_QUEUES": row.worker} {
			if value != "" {
				more[name] = value
			}
		}
		setQueues(t, more)
		_, err := ReadSettings()
		if (err != nil) != (row.say != "") || err != nil && !strings.Contains(err.Error(), row.say) {
			t.Errorf("%+v: %v, want %q", more, err, row.say)
		}
		if err != nil && strings.Contains(row.say, "BELFRY_QUEUES: ") && strings.Contains(err.Error(), "_QUEUES_URL: ") {
			t.Errorf("%+v: faults of groups are said of the URL, too: %v", more, err)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("the error repeats a URL: %v", err)
		}
	}
	setQueues(t, map[string]string{"BELFRY_QUEUES": "a=x", "BELFRY_QUEUES_URL": "mem://{group}{priority}", "BELFRY_QUEUE_BULK_URL": "mem://abulk"})
	if _, err := ReadSettings(); err == nil || !strings.Contains(err.Error(), "BELFRY_QUEUES_URL: gives the a bulk queue the URL of the bulk queue") {
		t.Errorf("two queues of one URL: %v", err)
	}
	setQueues(t, map[string]string{"BELFRY_QUEUES": "media=a; mail=b", "BELFRY_QUEUES_URL": url, "BELFRY_WORKER_QUEUES": "mail"})
	if _, err := ReadSettings(); err == nil || strings.Contains(err.Error(), "BELFRY_WORKER_QUEUES") {
		t.Errorf("a group whose name has a fault: %v, want nothing said of the worker's queues", err)
	}
	clean(t)
	t.Setenv("BELFRY_QUEUES", "media=a")
	t.Setenv("BELFRY_QUEUES_URL", url)
	if _, err := ReadSettings(); err == nil || !strings.Contains(err.Error(), "BELFRY_QUEUES: is set, but workers claim from the table") {
		t.Errorf("groups without queues: %v", err)
	}
}
