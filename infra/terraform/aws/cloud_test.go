package aws_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/belfry-dev/belfry/internal/queueserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

const (
	region  = "us-east-1"
	account = "123456789012" // moto's
)

// cloud is what stands for AWS: moto, and before it what moto cannot do. It runs functions, under AWS's Runtime
// Interface Emulator, from the code, with the environment and with the rights that they were deployed with.
type cloud struct {
	t            *testing.T
	url          string // of all services
	moto         *url.URL
	kept         *http.Transport // keeps connections to moto, which is slow to take new ones
	lambda       *lambda.Client
	emulator     string
	adapt        func(environment map[string]string) // what differs on this machine from AWS; nil means nothing
	code         string                              // folder of the zips
	masterSecret string                              // what RDS keeps for the master of a database
	gateway      string                              // address of the HTTP API
	token        string                              // of the admin

	mu        sync.Mutex
	functions map[string]*function
	policies  map[string][]statement // of roles
	used      map[string]bool        // rights: role, action, resource
	wakes     sync.WaitGroup
}

// newCloud starts one for this test.
func newCloud(t *testing.T) *cloud {
	t.Helper()
	server, err := queueserver.StartMoto()
	if err != nil {
		testenv.NotInstalled(t, "sqs", err)
	}
	t.Cleanup(func() { _ = server.Close() })
	moto, err := url.Parse(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	c := &cloud{kept: &http.Transport{MaxIdleConnsPerHost: 100}, t: t, moto: moto, emulator: testenv.RIE(t), functions: map[string]*function{}, policies: map[string][]statement{}, used: map[string]bool{}}
	front := httptest.NewServer(c)
	t.Cleanup(front.Close)
	t.Cleanup(c.stopFunctions)
	c.url = front.URL
	c.lambda = lambda.New(lambda.Options{Region: region, BaseEndpoint: sdk.String(server.Address()), Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	return c
}

// environment is what programs reach this cloud by.
func (c *cloud) environment() []string {
	return []string{"AWS_ENDPOINT_URL=" + c.url, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=" + region, "AWS_EC2_METADATA_DISABLED=true", "AWS_MAX_ATTEMPTS=3"}
}

var invocation = regexp.MustCompile(`^/2015-03-31/functions/([^/]+)/invocations$`)

// ServeHTTP answers what moto cannot, and passes the rest on.
func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if c.refuse(w, r, body) {
		return
	}
	path, _ := url.PathUnescape(r.URL.EscapedPath())
	if found := invocation.FindStringSubmatch(path); found != nil && r.Method == http.MethodPost {
		c.serveInvocation(w, r, found[1][strings.LastIndexByte(found[1], ':')+1:], body)
		return
	}
	if r.Header.Get("X-Amz-Target") == "secretsmanager.GetSecretValue" && c.tellSecret(w, body) {
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	(&httputil.ReverseProxy{Transport: c.kept, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(c.moto); p.Out.Host = c.moto.Host }}).ServeHTTP(w, r)
}

// tellSecret answers for the secret of a database's master, of which moto makes the name only.
func (c *cloud) tellSecret(w http.ResponseWriter, body []byte) bool {
	var asked struct {
		SecretID string `json:"SecretId"`
	}
	if err := json.Unmarshal(body, &asked); err != nil || !strings.Contains(asked.SecretID, ":secret:rds!") {
		return false
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(map[string]string{"ARN": asked.SecretID, "SecretString": c.masterSecret})
	return true
}

// serveInvocation runs a function. An asynchronous invocation is answered before it ends.
func (c *cloud) serveInvocation(w http.ResponseWriter, r *http.Request, name string, event []byte) {
	if r.Header.Get("X-Amz-Invocation-Type") == "Event" {
		c.wakes.Go(func() {
			if _, err := c.invoke(context.WithoutCancel(r.Context()), name, event); err != nil {
				c.t.Errorf("%s: %v", name, err)
			}
		})
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer, err := c.invoke(r.Context(), name, event)
	var failure struct{ ErrorMessage, ErrorType string }
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	case json.Unmarshal(answer, &failure) == nil && failure.ErrorType != "":
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
	}
	_, _ = w.Write(answer)
}

// invoke runs a function on an event, in its one environment here.
func (c *cloud) invoke(ctx context.Context, name string, event []byte) ([]byte, error) {
	c.mu.Lock()
	f := c.functions[name]
	if f == nil {
		f = &function{}
		c.functions[name] = f
	}
	c.mu.Unlock()
	f.turn.Lock()
	defer f.turn.Unlock()
	if err := c.start(ctx, name, f); err != nil {
		return nil, err
	}
	return f.invoke(ctx, event)
}

// deployed is what a function was deployed with.
func (c *cloud) deployed(ctx context.Context, name string) (*lambda.GetFunctionOutput, error) {
	return c.lambda.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: &name})
}

// packages builds the functions for this machine into a folder, under the names that a deployment takes them by.
func packages(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "run", "./internal/lambdazip", "-out", out, "-arch", runtime.GOARCH)
	build.Dir = "../../.."
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, name := range []string{"api", "tick", "worker", "migrate"} {
		from := filepath.Join(out, name+"-"+runtime.GOARCH+".zip")
		if err := os.Rename(from, filepath.Join(out, name+"-arm64.zip")); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// unpack writes the program of the zip whose checksum a function was deployed with, and returns its path.
func unpack(dir, sum, to string) (string, error) {
	zips, err := filepath.Glob(filepath.Join(dir, "*.zip"))
	if err != nil {
		return "", err
	}
	for _, name := range zips {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		if got := sha256.Sum256(text); base64.StdEncoding.EncodeToString(got[:]) != sum {
			continue
		}
		r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return "", err
		}
		f, err := r.Open("bootstrap")
		if err != nil {
			return "", err
		}
		program, err := io.ReadAll(f)
		if err != nil {
			return "", err
		}
		path := filepath.Join(to, "bootstrap")
		return path, os.WriteFile(path, program, 0o700)
	}
	return "", fmt.Errorf("no zip has the checksum %s that was deployed", sum)
}
