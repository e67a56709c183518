package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress shows how far a long command is: a bar that is drawn over on a terminal, else a line now and then.
type progress struct {
	w      io.Writer
	live   bool
	now    func() time.Time
	unit   string
	total  int64 // of the measure that makes the bar; 0 means not known
	start  time.Time
	from   int // units that were through before the start
	shown  time.Time
	drawn  bool
	silent bool
}

func (a *app) progress(unit string, total int64) *progress {
	start := a.now()
	return &progress{w: a.errs, live: a.bars, now: a.now, unit: unit, total: total, start: start, shown: start, silent: a.json && !a.bars}
}

const (
	barCells  = 30
	liveEvery = 100 * time.Millisecond
	lineEvery = 2 * time.Second
)

// at says that n units are through, which are done of the total. What is quick shows nothing.
func (p *progress) at(n int, done int64) {
	now, every := p.now(), lineEvery
	if p.live {
		every = liveEvery
	}
	if p.silent || now.Sub(p.shown) < every {
		return
	}
	p.shown, p.drawn = now, true
	rate := ""
	if took := now.Sub(p.start).Seconds(); took >= 0.5 {
		rate = fmt.Sprintf(", %.0f/s", float64(n-p.from)/took)
	}
	if !p.live {
		fmt.Fprintf(p.w, "%d %s%s%s\n", n, p.unit, p.percent(done), rate)
		return
	}
	bar := ""
	if p.total > 0 {
		full := int(min(done, p.total) * barCells / p.total)
		bar = "[" + strings.Repeat("#", full) + strings.Repeat(".", barCells-full) + "] "
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s%d %s%s%s", bar, n, p.unit, p.percent(done), rate)
}

func (p *progress) percent(done int64) string {
	if p.total <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%d%%)", min(done, p.total)*100/p.total)
}

// end clears the bar. It may be called again.
func (p *progress) end() {
	if p.live && p.drawn {
		p.drawn = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
