package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	lookAgain  = time.Second     // for environments that were started meanwhile
	longestRun = 3 * time.Minute // of one invocation; the emulators end them before
)

// errFailed says that a function ended an invocation by an error.
var errFailed = errors.New("function failed")

// function is a function: a set of environments, of which each serves one invocation at a time.
type function struct {
	name, host, port string

	mu    sync.Mutex
	busy  map[string]bool
	freed chan struct{}
}

func newFunction(name, address string) *function {
	f := &function{name: name, busy: map[string]bool{}, freed: make(chan struct{}, 1)}
	var err error
	if f.host, f.port, err = net.SplitHostPort(address); err != nil {
		f.host, f.port = address, "8080"
	}
	return f
}

// invoke sends an event to an environment that is free, waiting for one until ctx ends, and returns the answer. An error
// is errFailed where the function itself ended by one.
func (f *function) invoke(ctx context.Context, event any) ([]byte, error) {
	body, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	at, err := f.acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("no environment of %s is free: %w", f.name, err)
	}
	defer f.release(at)
	// Whoever waited for an environment under a deadline does not wait for the answer under it.
	running, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRun)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})()
	r, err := http.NewRequestWithContext(running, http.MethodPost, "http://"+at+"/2015-03-31/functions/function/invocations", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(r) //nolint:gosec // the host is of this program's command line
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	return answer, failure(res.StatusCode, answer)
}

// failure is the error that an answer of the emulator tells, which has the status 200 for most of them.
func failure(status int, answer []byte) error {
	if status != http.StatusOK {
		return fmt.Errorf("%w: %d: %.300s", errFailed, status, answer)
	}
	if !json.Valid(answer) { // "Task timed out after 60.00 seconds"
		return fmt.Errorf("%w: %.300s", errFailed, answer)
	}
	var said struct {
		ErrorType    string `json:"errorType"`
		ErrorMessage string `json:"errorMessage"`
	}
	if json.Unmarshal(answer, &said) == nil && (said.ErrorType != "" || said.ErrorMessage != "") {
		return fmt.Errorf("%w: %s %s", errFailed, said.ErrorType, said.ErrorMessage)
	}
	return nil
}

// acquire takes an environment that nobody uses.
func (f *function) acquire(ctx context.Context) (string, error) {
	for {
		hosts, err := net.DefaultResolver.LookupHost(ctx, f.host)
		if err == nil {
			if at, ok := f.take(hosts); ok {
				return at, nil
			}
		}
		again := time.NewTimer(lookAgain)
		select {
		case <-f.freed:
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return "", errors.Join(ctx.Err(), err)
		}
		again.Stop()
	}
}

func (f *function) take(hosts []string) (at string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, host := range hosts {
		if at = net.JoinHostPort(host, f.port); !f.busy[at] {
			f.busy[at] = true
			return at, true
		}
	}
	return "", false
}

func (f *function) release(at string) {
	f.mu.Lock()
	delete(f.busy, at)
	f.mu.Unlock()
	select {
	case f.freed <- struct{}{}:
	default:
	}
}
