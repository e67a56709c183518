package console

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Progress shows how far a long command is: a bar that is drawn over on a terminal, else a line now and then.
type Progress struct {
	w      io.Writer
	live   bool
	now    func() time.Time
	unit   string
	Total  int64 // of the measure that makes the bar; 0 means not known
	start  time.Time
	From   int // units that were through before the start
	shown  time.Time
	drawn  bool
	silent bool
}

// Progress begins to show how far a command is. total is 0 where nobody knows it.
func (a *App) Progress(unit string, total int64) *Progress {
	start := a.Now()
	return &Progress{w: a.Errs, live: a.Bars, now: a.Now, unit: unit, Total: total, start: start, shown: start, silent: a.JSON && !a.Bars}
}

const (
	barCells  = 30
	liveEvery = 100 * time.Millisecond
	lineEvery = 2 * time.Second
)

// At says that n units are through, which are done of the total. What is quick shows nothing.
func (p *Progress) At(n int, done int64) {
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
		rate = fmt.Sprintf(", %.0f/s", float64(n-p.From)/took)
	}
	if !p.live {
		fmt.Fprintf(p.w, "%d %s%s%s\n", n, p.unit, p.percent(done), rate)
		return
	}
	bar := ""
	if p.Total > 0 {
		full := int(min(done, p.Total) * barCells / p.Total)
		bar = "[" + strings.Repeat("#", full) + strings.Repeat(".", barCells-full) + "] "
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s%d %s%s%s", bar, n, p.unit, p.percent(done), rate)
}

func (p *Progress) percent(done int64) string {
	if p.Total <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%d%%)", min(done, p.Total)*100/p.Total)
}

// End clears the bar. It may be called again.
func (p *Progress) End() {
	if p.live && p.drawn {
		p.drawn = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
