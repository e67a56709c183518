package console

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
)

// column is one column of a table, and how it shrinks if the table is wider than the terminal.
type column struct {
	head  string
	least int  // its cells may be cut to this width. Zero means that they may not be cut
	spare bool // it may be left out
}

// Columns makes columns from heads. "HEAD…" may be cut, "HEAD…16" to no less than 16 characters; "HEAD?" may be left out,
// from left to right.
func Columns(heads ...string) []column {
	cols := make([]column, len(heads))
	for i, head := range heads {
		name, spare := strings.CutSuffix(head, "?")
		name, least, give := strings.Cut(name, "…")
		cols[i] = column{head: name, spare: spare}
		if give {
			cols[i].least = leastCell
			if n, err := strconv.Atoi(least); err == nil {
				cols[i].least = n
			}
		}
	}
	return cols
}

const (
	gap       = "  "
	leastCell = 4 // minimum width of a cut cell, unless the column has its own
)

// cells measures text as terminals of any locale show it.
var cells = runewidth.Condition{EastAsianWidth: false, StrictEmojiNeutral: true}

// WriteTable writes rows under their heads. width is the terminal's; 0 means no terminal, and nothing is cut or left out. On
// a terminal empty columns are left out. If the others do not fit, cells are cut, then spare columns are left out, and at
// last each row becomes a block of lines. Every cell is cleaned here, so that no caller can forget it.
func WriteTable(w io.Writer, width int, cols []column, rows [][]string) {
	all := make([][]string, 0, len(rows)+1)
	heads := make([]string, len(cols))
	for i, c := range cols {
		heads[i] = c.head
	}
	all = append(all, heads)
	for _, row := range rows {
		cleaned := make([]string, len(cols))
		for i := range cols {
			cleaned[i] = Clean(row[i])
		}
		all = append(all, cleaned)
	}
	shown := all
	if width > 0 {
		cols, shown = withoutColumns(cols, all, func(i int) bool { return i > 0 && emptyBelow(all, i) })
	}
	sizes, fits := fit(width, cols, shown)
	for !fits {
		spare := slices.IndexFunc(cols, func(c column) bool { return c.spare })
		if spare < 0 {
			writeBlocks(w, width, heads, all[1:])
			return
		}
		cols, shown = withoutColumns(cols, shown, func(i int) bool { return i == spare })
		sizes, fits = fit(width, cols, shown)
	}
	for _, row := range shown {
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

// emptyBelow reports whether a column has nothing below its head.
func emptyBelow(rows [][]string, column int) bool {
	return !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[column] != "" })
}

// withoutColumns returns the table without some columns.
func withoutColumns(cols []column, rows [][]string, goes func(i int) bool) (left []column, cells [][]string) {
	cells = make([][]string, len(rows))
	for i := range cols {
		if goes(i) {
			continue
		}
		left = append(left, cols[i])
		for k, row := range rows {
			cells[k] = append(cells[k], row[i])
		}
	}
	return left, cells
}

// writeBlocks writes a line with its head for each cell that is not empty, and a blank line between rows.
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

// fit gives each column its width. If they do not fit, it cuts the widest column that may be cut, one character at a time;
// fits false means that this was not enough.
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
			if c.least > 0 && sizes[i] > c.least && (widest < 0 || sizes[i] > sizes[widest]) {
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
