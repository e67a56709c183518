package console

import (
	"encoding/json"
	"fmt"
	"iter"
)

// tableRows is how many rows are held to find the width of columns; longer lists are several tables.
const tableRows = 1000

// Listing says how a list is shown.
type Listing[T any] struct {
	Columns  []column
	Row      func(T) []string
	Document func(T) json.RawMessage // its JSON. Nil means the JSON of the value itself
	None     string                  // printed if the list is empty
}

// Show writes up to limit items of a list (0: all) as tables, or one document a line.
func (l Listing[T]) Show(a *App, items iter.Seq2[T, error], limit int) error {
	var rows [][]string
	n := 0
	for item, err := range items {
		if err != nil {
			return err
		}
		n++
		switch {
		case a.JSON && l.Document != nil:
			a.PrintDocument(l.Document(item))
		case a.JSON:
			if err := a.PrintValue(item); err != nil {
				return err
			}
		default:
			rows = append(rows, l.Row(item))
		}
		if len(rows) == tableRows {
			WriteTable(a.Out, a.Width(), l.Columns, rows)
			rows = rows[:0]
		}
		if n == limit {
			break
		}
	}
	switch {
	case len(rows) > 0:
		WriteTable(a.Out, a.Width(), l.Columns, rows)
	case n == 0 && !a.JSON:
		fmt.Fprintln(a.Out, l.None)
	}
	return nil
}
