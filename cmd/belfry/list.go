package main

import (
	"encoding/json"
	"fmt"
	"iter"
)

// tableRows is how many rows are held to find the width of columns; longer lists are several tables.
const tableRows = 1000

// listing says how a list is shown.
type listing[T any] struct {
	columns  []column
	row      func(T) []string
	document func(T) json.RawMessage // its JSON. Nil means that of the value itself
	none     string                  // said where the list is empty
}

// show writes up to limit items of a list (0: all) as tables, or one document a line.
func (l listing[T]) show(a *app, items iter.Seq2[T, error], limit int) error {
	var rows [][]string
	n := 0
	for item, err := range items {
		if err != nil {
			return err
		}
		n++
		switch {
		case a.json && l.document != nil:
			a.printDocument(l.document(item))
		case a.json:
			if err := a.printValue(item); err != nil {
				return err
			}
		default:
			rows = append(rows, l.row(item))
		}
		if len(rows) == tableRows {
			writeTable(a.out, a.width(), l.columns, rows)
			rows = rows[:0]
		}
		if n == limit {
			break
		}
	}
	switch {
	case len(rows) > 0:
		writeTable(a.out, a.width(), l.columns, rows)
	case n == 0 && !a.json:
		fmt.Fprintln(a.out, l.none)
	}
	return nil
}
