package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"
)

// witness is the append-only file that all processes write what they saw to. Each event is one write of one
// line with O_APPEND, so the order of lines is the order of writes, also across processes.
type witness struct {
	file *os.File
	pid  int
}

func openWitness(path string) (*witness, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &witness{f, os.Getpid()}, nil
}

// say writes one event. A witness that cannot write is no witness: the process ends.
func (w *witness) say(event string, args ...any) {
	if _, err := w.file.WriteString(w.line(event, args...)); err != nil {
		panic(err)
	}
}

func (w *witness) line(event string, args ...any) string {
	return fmt.Sprintf("%d %d %s %s\n", time.Now().UnixMicro(), w.pid, event, strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
}

// sayAll writes many events in one write.
func (w *witness) sayAll(lines []string) {
	if len(lines) == 0 {
		return
	}
	if _, err := w.file.WriteString(strings.Join(lines, "")); err != nil {
		panic(err)
	}
}

// event is one line read back.
type event struct {
	at   time.Time
	pid  int
	what string
	args []string
}

// i64 returns argument n as a number.
func (e event) i64(n int) int64 {
	var v int64
	if n < len(e.args) {
		_, _ = fmt.Sscan(e.args[n], &v)
	}
	return v
}

func readWitness(path string) ([]event, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []event
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) < 3 {
			return nil, fmt.Errorf("witness line %d: %q", len(out)+1, s.Text())
		}
		var e event
		var micros int64
		if _, err := fmt.Sscan(fields[0], &micros); err != nil {
			return nil, err
		}
		if _, err := fmt.Sscan(fields[1], &e.pid); err != nil {
			return nil, err
		}
		e.at, e.what, e.args = time.UnixMicro(micros), fields[2], fields[3:]
		out = append(out, e)
	}
	return out, nil
}
