package solo

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host/node"
	"github.com/belfry-dev/belfry/functions/worker"
)

// Stack is what a process stands on, and how that is called.
type Stack struct {
	Store  core.Store
	Queue  core.Queue   // nil means direct mode
	Keeps  string       // where jobs are: "PostgreSQL"
	Queues string       // how they reach workers: "over queues"
	End    string       // what Ctrl-C leaves behind, a sentence
	Close  func() error // ends what is below the store, after it. Nil means nothing is
}

// Run listens, opens the stack, runs the roles until ctx ends, and closes it.
func Run(ctx context.Context, o Options, out, errs io.Writer, open func(context.Context) (Stack, error)) (err error) {
	log := boot.NewLogger(o.Settings, errs)
	boot.QuietStandardLog(log)
	parts := node.Parts{Webhooks: boot.WebhookOptions{ThisMachine: o.ThisMachine()}, Settings: o.Settings, Roles: o.Roles, Handlers: worker.Tryout(), Version: boot.Version(), Log: log}
	if o.Roles.API {
		if parts.Listener, err = boot.Listen(ctx, o.Settings.Addr); err != nil {
			return fmt.Errorf("%w (another address: -addr 127.0.0.1:0)", err)
		}
		defer parts.Listener.Close()
	}
	stack, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, stack.Store.Close())
		if stack.Close != nil {
			err = errors.Join(err, stack.Close())
		}
	}()
	parts.Store, parts.Queue = stack.Store, stack.Queue
	parts.Ready = func() { greet(out, o, stack, parts.Listener, needsToken(ctx, o, stack.Store)) }
	return node.Run(ctx, parts)
}

// needsToken reports whether calls of the API need a token. Where that cannot be told it says no: the API will.
func needsToken(ctx context.Context, o Options, store core.Store) bool {
	tokens, err := store.ListTokens(ctx, "", 1)
	return len(o.Settings.Tokens) > 0 || err == nil && len(tokens) > 0
}
