package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// column is one column of a table.
type column struct {
	head string
	give bool // may be cut where the table is wider than the terminal
}

// columns takes heads; those that may be cut end in "…".
func columns(heads ...string) []column {
	cols := make([]column, len(heads))
	for i, h := range heads {
		name, give := strings.CutSuffix(h, "…")
		cols[i] = column{name, give}
	}
	return cols
}

const (
	gap       = "  "
	leastCell = 4 // columns a cut cell keeps
)

// cells measures text as terminals of any locale show it.
var cells = runewidth.Condition{EastAsianWidth: false, StrictEmojiNeutral: true}

// writeTable writes rows under their heads. width is the terminal's; 0 means none, and nothing is cut. Where the
// columns do not fit, however short they are cut, each row is a block of lines instead. Every cell is cleaned here, so
// that no caller can forget it.
func writeTable(w io.Writer, width int, cols []column, rows [][]string) {
	all := make([][]string, 0, len(rows)+1)
	heads := make([]string, len(cols))
	for i, c := range cols {
		heads[i] = c.head
	}
	all = append(all, heads)
	for _, row := range rows {
		cleaned := make([]string, len(cols))
		for i := range cols {
			cleaned[i] = clean(row[i])
		}
		all = append(all, cleaned)
	}
	sizes, fits := fit(width, cols, all)
	if !fits {
		writeBlocks(w, width, heads, all[1:])
		return
	}
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			if cells.StringWidth(cell) > sizes[i] {
				cell = cells.Truncate(cell, sizes[i], "…")
			}
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", sizes[i]-cells.StringWidth(cell)) + gap)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// writeBlocks writes a line for each cell that holds something, behind its head, and a blank line between rows.
func writeBlocks(w io.Writer, width int, heads []string, rows [][]string) {
	name := 0
	for _, head := range heads {
		name = max(name, cells.StringWidth(head))
	}
	room := max(width-name-len(gap), leastCell)
	for i, row := range rows {
		if i > 0 {
			fmt.Fprintln(w)
		}
		for k, cell := range row {
			if cell == "" {
				continue
			}
			if cells.StringWidth(cell) > room {
				cell = cells.Truncate(cell, room, "…")
			}
			fmt.Fprintln(w, heads[k]+strings.Repeat(" ", name-cells.StringWidth(heads[k]))+gap+cell)
		}
	}
}

// fit gives each column its width. Where all do not fit, the widest that may be cut is cut, a column at a time; with
// fits false that was not enough.
func fit(width int, cols []column, rows [][]string) (sizes []int, fits bool) {
	sizes = make([]int, len(cols))
	for _, row := range rows {
		for i, cell := range row {
			sizes[i] = max(sizes[i], cells.StringWidth(cell))
		}
	}
	total := len(gap) * (len(cols) - 1)
	for _, size := range sizes {
		total += size
	}
	for width > 0 && total > width {
		widest := -1
		for i, c := range cols {
			if c.give && sizes[i] > leastCell && (widest < 0 || sizes[i] > sizes[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return sizes, false
		}
		sizes[widest]--
		total--
	}
	return sizes, true
}
