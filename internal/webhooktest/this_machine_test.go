package webhooktest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/host/node"
)

// Without a setting a first try reaches receivers on its own machine, and so do alerts. With the first token, and the first
// request that came through a proxy, that is over for targets of all kinds: others may submit now.
func TestThisMachineIsOpenToItsOwnUsersOnly(t *testing.T) {
	for name, shut := range map[string]func(s *stage){
		"a token": func(s *stage) {
			if _, err := s.store.CreateToken(context.Background(), core.Token{ID: "0123456789abcdef", Role: core.RoleSubmit, Tenant: "acme"}); err != nil {
				s.t.Fatal(err)
			}
			made := time.Now()
			until(s.t, "it is known that there is a token", func() bool { return time.Since(made) > 2*time.Second })
		},
		"a proxy": func(s *stage) {
			req, err := http.NewRequestWithContext(s.t.Context(), "GET", s.url+"/healthz", nil)
			if err != nil {
				s.t.Fatal(err)
			}
			req.Header.Set("X-Forwarded-For", "203.0.113.9")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				s.t.Fatal(err)
			}
			resp.Body.Close()
		},
	} {
		for _, allowed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, allowed %t", name, allowed), func(t *testing.T) {
				r := receive(t, status(http.StatusOK))
				s := start(t, layouts[0], func(p *node.Parts) {
					p.Settings.WebhookAllow, p.Settings.AlertURL, p.Webhooks.ThisMachine = nil, r.URL+"/alerts", true
					if allowed {
						p.Settings.WebhookAllow = []string{"127.0.0.1"}
					}
				})
				local := strings.Replace(r.URL, "127.0.0.1", "localhost", 1)
				for _, url := range []string{r.URL, local} {
					if url != local || !allowed {
						s.ended(s.submit(url, "").ID, "done")
					}
				}
				waiting := s.submit(r.URL, `,"delay":"24h"`)
				before := len(r.all())
				shut(s)
				if err := s.store.MarkDelivered(t.Context(), []string{"hook"}); err != nil {
					t.Fatal(err)
				}
				if status, text := s.call("PUT", "/v1/types/hook", fmt.Sprintf(`{"target":{"url":%q}}`, r.URL), nil); name == "a proxy" && (status == http.StatusUnprocessableEntity) == allowed {
					t.Errorf("create: %d %s", status, text)
				}
				id, err := strconv.ParseInt(waiting.ID, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.store.Reschedule(t.Context(), id, core.When{}); err != nil {
					t.Fatal(err)
				}
				want := core.Failed
				if allowed {
					want = core.Done
				}
				until(t, "the job that waited has ended", func() bool {
					j, err := s.store.Get(t.Context(), id)
					if err != nil {
						t.Fatal(err)
					}
					if j.Status != want && !j.Status.Live() {
						t.Fatalf("%s: %+v", j.Status, j.Errors)
					}
					return j.Status == want
				})
				if got := len(r.all()) - before; (got > 0) != allowed {
					t.Errorf("%d deliveries afterwards", got)
				}
				if told := strings.Count(s.log.String(), "webhooks do not reach this machine any more"); !allowed && told != 1 {
					t.Errorf("told %d times", told)
				}
			})
		}
	}
}
