package jobs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

const (
	batchBytes  = 8 << 20          // of one request
	faultsShown = 20               // refused lines that are told one by one
	lastAnswer  = 20 * time.Second // for the batch under way, after Ctrl-C
)

// loader submits a file, batch by batch.
type loader struct {
	*console.App
	api      *client.Client
	lines    *lines
	resume   resume
	progress *console.Progress
	size     int

	total, submitted, there, refused int
}

func submitFile(a *console.App, c *cobra.Command, s *submitFlags, args []string) (err error) {
	var wrong error
	c.Flags().Visit(func(f *pflag.Flag) {
		if !goesWithFile[f.Name] {
			wrong = console.Usage("--%s does not go with --file: each line says it for itself", f.Name)
		}
	})
	switch {
	case wrong != nil:
		return wrong
	case len(args) > 0:
		return console.Usage("a type does not go with --file: each line says it for itself")
	}
	l := &loader{App: a, size: s.batch}
	if l.api, err = a.Client(); err != nil {
		return err
	}
	if s.file == "-" {
		if err := l.stream(a.In, s); err != nil {
			return err
		}
		return l.load(c.Context())
	}
	file, err := os.Open(s.file)
	if err != nil {
		return console.Usage("--file: %s: %s", s.file, console.FileReason(err))
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := l.open(file, s); err != nil {
		return err
	}
	return l.load(c.Context())
}

// goesWithFile are the flags that do.
var goesWithFile = map[string]bool{"file": true, "batch": true, "fresh": true, "name": true, "json": true, "url": true, "token": true, "profile": true}

// open goes to where an interrupted run of this file stopped, if its beginning is still the same.
func (l *loader) open(file *os.File, s *submitFlags) error {
	info, err := file.Stat()
	if err != nil {
		return console.Usage("--file: %s", err)
	}
	if info.IsDir() {
		return console.Usage("--file: %s: is a directory", s.file)
	}
	if !info.Mode().IsRegular() { // a pipe: it cannot be read again from its beginning
		return l.stream(file, s)
	}
	l.progress = l.App.Progress("lines", info.Size())
	identity, err := s.identity()
	if err != nil {
		return console.Usage("--file: %s", err)
	}
	l.lines = newLines(file, identity)
	if fault := l.lines.fault(); fault != "" {
		return console.Usage("--file %s", fault)
	}
	var found bool
	if l.resume, found = openResume(identity, l.Address); found && !s.fresh {
		same, err := l.lines.skip(l.resume.At)
		if err != nil {
			return fmt.Errorf("%s: %w", s.file, err)
		}
		if same {
			l.progress.From, l.size = l.lines.number, l.resume.Size
			fmt.Fprintf(l.Errs, "goes on behind line %d, where it was interrupted; --fresh begins anew\n", l.lines.number)
			return nil
		}
		fmt.Fprintln(l.Errs, "the file is not the one that was interrupted: it is submitted from its beginning")
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	l.lines, l.resume.Run, l.resume.Size = newLines(file, identity), rand.Text(), l.size
	l.keep(l.lines.mark()) // before the first batch: its answer, too, may be lost
	return nil
}

// stream reads what has no beginning to go back to. Whatever comes that way is one file, unless it has a name.
func (l *loader) stream(r io.Reader, s *submitFlags) error {
	identity := "-"
	if s.name != "" {
		identity = s.named()
	}
	l.lines, l.progress, l.resume.Run = newLines(r, identity), l.App.Progress("lines", 0), rand.Text()
	if fault := l.lines.fault(); fault != "" {
		return console.Usage("--file %s", fault)
	}
	return nil
}

// identity tells the file from others: the name it was given, else its path without symbolic links.
func (s *submitFlags) identity() (string, error) {
	if s.name != "" {
		return s.named(), nil
	}
	path, err := filepath.EvalSymlinks(s.file)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// named is the identity of a file with a name of its own, which is nobody's path.
func (s *submitFlags) named() string { return "name " + s.name }

// keep keeps the place, if it can.
func (l *loader) keep(at place) {
	if err := l.resume.save(at); err != nil {
		fmt.Fprintln(l.Errs, "belfry: cannot keep how far it came:", console.Clean(err.Error()))
		l.resume.path = ""
	}
	l.resume.At = at
}

// load submits what is left of the file. After Ctrl-C the batch under way is still answered, so that nothing is
// left in doubt.
func (l *loader) load(ctx context.Context) error {
	var failed error
	for failed == nil && ctx.Err() == nil {
		batch, err := l.batch()
		if len(batch) > 0 {
			failed = l.send(ctx, batch)
		}
		if errors.Is(err, io.EOF) {
			if failed == nil {
				failed = l.resume.forget()
				l.progress.End()
				l.sum()
			}
			return l.outcome(failed)
		}
		if failed == nil {
			failed = err
		}
	}
	l.progress.End()
	l.sum()
	if failed == nil {
		failed = context.Cause(ctx)
	}
	return fmt.Errorf("stopped behind line %d: %w; run it again to go on", l.resume.At.Lines, failed)
}

func (l *loader) outcome(failed error) error {
	switch {
	case failed != nil:
		return failed
	case l.refused > 0:
		return &console.QuietError{Code: console.ExitFailed}
	case l.total > 0 && l.submitted == 0 && l.progress.From == 0:
		return &console.QuietError{Code: console.ExitNothingNew}
	}
	return nil
}

// batch reads the lines of the next request. An error comes with what was read before it.
func (l *loader) batch() (batch []line, err error) {
	for bytes := 0; len(batch) < l.size && bytes < batchBytes; {
		next, err := l.lines.next()
		if err != nil {
			return batch, err
		}
		batch = append(batch, next)
		bytes += len(next.document)
	}
	return batch, nil
}

// send submits a batch and keeps the place behind it.
func (l *loader) send(ctx context.Context, batch []line) error {
	var documents []json.RawMessage
	for _, one := range batch {
		if one.fault == "" {
			documents = append(documents, one.document)
		}
	}
	limited, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(lastAnswer, cancel)
		context.AfterFunc(limited, func() { timer.Stop() })
	})
	defer stop()
	items, err := l.submit(limited, batch[0].number, documents)
	if err != nil {
		return err
	}
	l.tell(batch, items)
	mark := l.lines.mark()
	l.progress.At(l.lines.number, mark.Offset)
	l.keep(mark)
	return nil
}

// submit submits documents; item i is for document i. A request that is refused as a whole is sent again in halves, down to
// the document that it was refused for: whatever is wrong with that one stops no other.
func (l *loader) submit(ctx context.Context, first int, documents []json.RawMessage) ([]client.Item, error) {
	items, err := l.api.SubmitDocuments(ctx, documents, l.batchKey(first, documents))
	switch {
	case err == nil || !errors.Is(err, client.ErrInvalid):
		return items, err
	case len(documents) == 1:
		return []client.Item{{Err: err}}, nil
	}
	half := len(documents) / 2
	items, err = l.submit(ctx, first, documents[:half])
	if err != nil {
		return nil, err
	}
	rest, err := l.submit(ctx, first, documents[half:])
	return append(items, rest...), err
}

// batchKey is the idempotency key of a batch: the same for the same documents at the same place of the same run. A
// batch that was changed before it is sent again is another one.
func (l *loader) batchKey(first int, documents []json.RawMessage) string {
	hashed := sha256.New()
	for _, d := range documents {
		fmt.Fprintf(hashed, "%d ", len(d))
		hashed.Write(d)
	}
	return fmt.Sprintf("%s-%d-%x", l.resume.Run, first, hashed.Sum(nil)[:8])
}

// tell counts the answers and says which lines were refused.
func (l *loader) tell(batch []line, items []client.Item) {
	for _, one := range batch {
		l.total++
		fault := one.fault
		var item client.Item
		if fault == "" {
			if item, items = items[0], items[1:]; item.Err != nil {
				fault = lineFault(item.Err)
			}
		}
		switch {
		case fault != "":
			l.refused++
			l.refuse(one.number, fault)
			continue
		case item.Job.Duplicate:
			l.there++
		default:
			l.submitted++
		}
		if l.JSON {
			l.PrintDocument(item.Job.Document())
		}
	}
}

// inBatch are places in a batch, which say nothing to someone who looks at the file.
var inBatch = regexp.MustCompile(`\bjobs\[\d+\]\.?| \(line \d+, column \d+\)`)

// lineFault is all that is wrong with a line.
func lineFault(err error) string {
	text := console.Plain(err)
	if fields := (client.FieldErrors)(nil); errors.As(err, &fields) {
		text = fields.Error()
	}
	return inBatch.ReplaceAllString(text, "")
}

func (l *loader) refuse(number int, fault string) {
	if l.JSON {
		l.PrintDocument(fmt.Appendf(nil, `{"line":%d,"error":%s}`, number, quoted(fault)))
		return
	}
	l.progress.End()
	if l.refused <= faultsShown {
		fmt.Fprintf(l.Errs, "line %d: %s\n", number, console.Clean(fault))
	}
	if l.refused == faultsShown+1 {
		fmt.Fprintln(l.Errs, "more lines are refused; they are only counted")
	}
}

// sum says what became of all lines of this run.
func (l *loader) sum() {
	if !l.JSON {
		fmt.Fprintf(l.Out, "%s: %d submitted, %d there already, %d refused\n", console.Numbered(l.total, "line"), l.submitted, l.there, l.refused)
	}
}

func quoted(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil {
		return []byte(`""`)
	}
	return b
}
