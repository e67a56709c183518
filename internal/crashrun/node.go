package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host/node"
	"github.com/belfry-dev/belfry/internal/queues"
)

// runNode is what a child process runs: the parts of cmd/local, seen by the witness.
func runNode(args []string) error {
	f := flag.NewFlagSet("node", flag.ExitOnError)
	role := f.String("role", "", "api, tick, worker, or several with commas")
	name := f.String("name", "", "name of the process")
	dsn := f.String("dsn", "", "database")
	addr := f.String("addr", "", "address of the api")
	file := f.String("witness", "", "witness file")
	arm := f.String("point", "", "point to die at")
	types := f.String("types", "work", "types with a handler, with commas")
	if err := f.Parse(args); err != nil {
		return err
	}
	w, err := openWitness(*file)
	if err != nil {
		return err
	}
	p, err := parsePoint(*arm, w)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	roles, err := node.ParseRoles(*role)
	if err != nil {
		return err
	}
	store, err := openPatiently(ctx, *dsn)
	if err != nil {
		return err
	}
	defer store.Close()
	handler := &seenHandler{w, p}
	handlers := core.Handlers{"poison": core.HandlerFunc(handler.poison)}
	for typ := range strings.SplitSeq(*types, ",") {
		handlers[typ] = core.HandlerFunc(handler.work)
	}
	parts := node.Parts{
		Settings: shortSettings(),
		Roles:    roles,
		Store:    &seenStore{Store: store, w: w, p: p},
		Handlers: handlers,
		Log:      slog.New(slog.NewTextHandler(os.Stderr, nil)).With("node", *name),
	}
	if strings.Contains(*role, "api") {
		if parts.Listener, err = net.Listen("tcp", *addr); err != nil {
			return err
		}
	}
	if parts.Queue, err = parts.Settings.OpenQueues(func(urls map[core.Priority]string) (core.Queue, error) {
		q, err := queues.Open(ctx, urls, parts.Settings.Lease)
		return &seenQueue{Queue: q, p: p}, err
	}); err != nil {
		return err
	}
	return node.Run(ctx, parts)
}

// shortSettings make a crash a matter of seconds.
func shortSettings() boot.Settings {
	s, err := boot.ReadSettings()
	if err != nil {
		panic(err)
	}
	s.Lease, s.Heartbeat = lease, heartbeat
	s.BucketLease, s.Tick = bucketLease, 500*time.Millisecond
	s.Workers, s.StopGrace, s.APIRate = 200, time.Second, 0
	return s
}

// openPatiently opens the store, waiting for a database that is down just now.
func openPatiently(ctx context.Context, dsn string) (core.Store, error) {
	for {
		store, err := postgres.Open(ctx, dsn, postgres.Options{})
		if err == nil || !(errors.Is(err, core.ErrUnavailable) || errors.Is(err, core.ErrReadOnly)) {
			return store, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// seenHandler runs the load's jobs and tells the witness when it enters and leaves.
type seenHandler struct {
	w *witness
	p *point
}

func (h *seenHandler) work(ctx context.Context, j *core.Job) (json.RawMessage, error) {
	h.w.say("enter", j.ID, j.LeaseToken, j.Attempts, j.LeaseUntil.UnixMicro())
	h.p.pass(atFinish, core.Ref{ID: j.ID, Token: j.LeaseToken})
	err := h.act(ctx, j)
	how := "ok"
	if err != nil {
		how = strings.ReplaceAll(err.Error(), " ", "_")
	}
	h.w.say("leave", j.ID, j.LeaseToken, how)
	return nil, err
}

// poison ends the process that runs it.
func (h *seenHandler) poison(_ context.Context, j *core.Job) (json.RawMessage, error) {
	h.w.say("enter", j.ID, j.LeaseToken, j.Attempts, j.LeaseUntil.UnixMicro())
	time.Sleep(time.Second)
	h.w.say("poisoned", j.ID)
	os.Exit(3)
	return nil, nil
}

func (h *seenHandler) act(ctx context.Context, j *core.Job) error {
	var in struct{ MS, Times int }
	if err := json.Unmarshal(j.Payload, &in); err != nil {
		return core.Permanent(err)
	}
	timer := time.NewTimer(time.Duration(in.MS) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if j.Attempts <= in.Times {
		return fmt.Errorf("attempt %d fails as asked", j.Attempts)
	}
	return nil
}

// seenStore tells the witness of dispatches, heartbeats and ends, and dies at its named points.
type seenStore struct {
	core.Store
	w *witness
	p *point
}

func (s *seenStore) Submit(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	out, err := s.Store.Submit(ctx, jobs)
	if err == nil {
		refs := make([]core.Ref, len(out))
		for i := range out {
			refs[i] = core.Ref{ID: out[i].ID, Token: out[i].Token}
		}
		s.p.pass(atReply, refs...)
	}
	return out, err
}

func (s *seenStore) Tick(ctx context.Context, req core.TickRequest) (core.TickResult, error) {
	r, err := s.Store.Tick(ctx, req)
	var lines []string
	for _, j := range r.Dispatched {
		lines = append(lines, s.w.line("dispatch", j.ID, j.LeaseToken, core.BucketOf(j.ID), j.DispatchFence, r.Now.UnixMicro()))
	}
	s.w.sayAll(lines)
	return r, err
}

func (s *seenStore) Heartbeat(ctx context.Context, beats []core.Ref, d time.Duration) ([]core.Beat, error) {
	sent := time.Now()
	out, err := s.Store.Heartbeat(ctx, beats, d)
	if err != nil {
		return out, err
	}
	var lines []string
	for i, b := range out {
		if !b.Stale && !b.Busy {
			lines = append(lines, s.w.line("beat", beats[i].ID, beats[i].Token, sent.Add(d).UnixMicro()))
		}
	}
	s.w.sayAll(lines)
	return out, err
}

func (s *seenStore) Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
	out, err := s.Store.Finish(ctx, ends)
	if err != nil {
		return out, err
	}
	var lines []string
	for i, a := range out {
		if !a.Busy {
			lines = append(lines, s.w.line("ended", ends[i].ID, ends[i].Token, int(ends[i].Outcome), a.Status, a.Stale, a.Repeat, ends[i].Lost))
		}
	}
	s.w.sayAll(lines)
	return out, err
}

// seenQueue dies between commit and publish: what a topic is asked to send is committed.
type seenQueue struct {
	core.Queue
	p *point
}

func (q *seenQueue) OpenTopic(ctx context.Context, p core.Priority) (core.Topic, error) {
	t, err := q.Queue.OpenTopic(ctx, p)
	return &seenTopic{t, q.p}, err
}

type seenTopic struct {
	core.Topic
	p *point
}

func (t *seenTopic) Send(ctx context.Context, msgs []core.Message) []error {
	refs := make([]core.Ref, len(msgs))
	for i, m := range msgs {
		refs[i] = core.Ref{ID: m.ID, Token: m.Token}
	}
	t.p.pass(atPublish, refs...)
	return t.Topic.Send(ctx, msgs)
}
