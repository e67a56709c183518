package cloudruntest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/internal/testenv"
)

// secretManager plays Google's Secret Manager: secrets with versions.
type secretManager struct {
	*httptest.Server
	mu       sync.Mutex
	versions map[string][]string // by the secret's name
}

func newSecretManager(t *testing.T, names ...string) *secretManager {
	t.Helper()
	s := &secretManager{versions: map[string][]string{}}
	for _, name := range names {
		s.versions["projects/p/secrets/"+name] = nil
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// setting is the value of a setting that names one of its secrets.
func (s *secretManager) setting(name string) string {
	return "projects/p/secrets/" + name + "?emulator=" + strings.TrimPrefix(s.URL, "http://")
}

func (s *secretManager) latest(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.versions["projects/p/secrets/"+name]
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// ServeHTTP is its API, as far as secrets are looked up, read and given versions.
func (s *secretManager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	name, _, _ := strings.Cut(strings.TrimSuffix(path, ":addVersion"), "/versions/")
	all, there := s.versions[name]
	w.Header().Set("Content-Type", "application/json")
	switch {
	case !there, strings.HasSuffix(path, "/versions/latest:access") && len(all) == 0:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error": {"code": 404, "status": "NOT_FOUND"}}`)
	case strings.HasSuffix(path, "/versions/latest:access"):
		_ = json.NewEncoder(w).Encode(map[string]any{"payload": map[string]string{"data": base64.StdEncoding.EncodeToString([]byte(all[len(all)-1]))}})
	case strings.HasSuffix(path, ":addVersion"):
		var added struct{ Payload struct{ Data []byte } }
		if err := json.NewDecoder(r.Body).Decode(&added); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.versions[name] = append(all, string(added.Payload.Data))
		fmt.Fprintf(w, `{"name": "%s/versions/%d"}`, name, len(all)+1)
	default:
		fmt.Fprintf(w, `{"name": %q}`, name)
	}
}

// migrate runs the job to its end.
func migrate(t *testing.T, args []string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, "migrate"), args...)
	cmd.Env = append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	return strings.TrimSpace(said.String()), err
}

// TestMigrate: from an empty database, database users that have no rights and secrets without a version to an API that knows
// the token which was made, under its own user; run again and twice at once it changes nothing; rotation ends the old token.
func TestMigrate(t *testing.T) {
	address := testenv.Postgres(t)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	users, prefix := map[string]string{}, fmt.Sprintf("u%d-", time.Now().UnixNano())
	for _, program := range []string{"api", "tick", "worker"} {
		users[program] = prefix + program + "@p.iam"
		if _, err := conn.Exec(t.Context(), fmt.Sprintf("CREATE ROLE %q LOGIN PASSWORD 'of-the-test'", users[program])); err != nil {
			t.Fatal(err)
		}
	}
	secrets := newSecretManager(t, "token", "webhooks")
	env := []string{
		"BELFRY_DATABASE_URL=" + address,
		"BELFRY_DEPLOY_MEMBERS=api=" + users["api"] + ",tick=" + users["tick"] + ",worker=" + users["worker"],
		"BELFRY_DEPLOY_ADMIN_TOKEN_SECRET=" + secrets.setting("token"), "BELFRY_DEPLOY_WEBHOOK_SECRETS_SECRET=" + secrets.setting("webhooks"),
	}
	if said, err := migrate(t, nil, env...); err != nil || !strings.HasPrefix(said, `{"migrated":true,"applied":["0001_jobs",`) || !strings.HasSuffix(said, `],"admin_token":"made","webhook_secrets":"made"}`) {
		t.Fatal(said, err)
	}
	token, signing := secrets.latest("token"), secrets.latest("webhooks")
	var twice sync.WaitGroup
	for range 2 {
		twice.Go(func() {
			if said, err := migrate(t, nil, env...); err != nil || said != `{"migrated":true,"admin_token":"kept","webhook_secrets":"kept"}` {
				t.Error(said, err)
			}
		})
	}
	twice.Wait()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(users["api"], "of-the-test")
	api := start(t, "api", "BELFRY_DATABASE_URL="+u.String(), "BELFRY_WEBHOOK_SECRETS="+signing)
	if status, body := ask(t, api, "POST", "/v1/jobs", token, `{"type":"echo","target":{"url":"https://example.org/"}}`); status != 201 {
		t.Fatal(status, body)
	}
	if said, err := migrate(t, []string{"rotate", "admin_token", "webhook_secrets"}, env...); err != nil || said != `{"migrated":true,"admin_token":"made","webhook_secrets":"made"}` {
		t.Fatal(said, err)
	}
	if both := secrets.latest("webhooks"); !strings.HasSuffix(both, ","+signing) {
		t.Error("the signing secret of before is not kept beside the new one")
	}
	fresh := start(t, "api", "BELFRY_DATABASE_URL="+u.String(), "BELFRY_WEBHOOK_SECRETS="+secrets.latest("webhooks"))
	if status, _ := ask(t, fresh, "GET", "/v1/jobs", token, ""); status != 401 {
		t.Errorf("the old token is answered %d", status)
	}
	if status, _ := ask(t, fresh, "GET", "/v1/jobs", secrets.latest("token"), ""); status != 200 {
		t.Errorf("the new token is answered %d", status)
	}
	for _, c := range []struct {
		args []string
		env  string
		want string
	}{
		{[]string{"now"}, "", "unexpected arguments"},
		{[]string{"rotate", "everything"}, "", "everything"},
		{nil, "BELFRY_DEPLOY_MEMBERS=api=a", "names no user for tick"},
		{nil, "BELFRY_DEPLOY_MEMBERS=app=a", "want api=USER"},
		{nil, "BELFRY_DEPLOY_ADMIN_TOKEN_SECRET=token", "want projects/PROJECT/secrets/SECRET"},
		{nil, "BELFRY_DEPLOY_ADMIN_TOKEN_SECRET=" + secrets.setting("none"), "read secret projects/p/secrets/none"},
	} {
		if said, err := migrate(t, c.args, append(env, c.env)...); err == nil || !strings.Contains(said, c.want) {
			t.Errorf("%v %s: %s, %v, want %s", c.args, c.env, said, err, c.want)
		}
	}
}
