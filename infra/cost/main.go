// Command cost computes what Belfry costs a month on AWS and on Google Cloud, and beside what it costs elsewhere: from
// the prices in prices.json, each with its source and the day it was read, and from the counts in counts.json, which
// tests have counted with the functions under emulators. Run it in the module's folder:
//
//	go run ./infra/cost                  prints the tables
//	go run ./infra/cost -write           writes them into docs/costs.md
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

var (
	//go:embed prices.json
	pricesText []byte
	//go:embed counts.json
	countsText []byte
)

const (
	document = "docs/costs.md"
	begin    = "<!-- computed by infra/cost: begin -->\n"
	end      = "<!-- computed by infra/cost: end -->\n"
)

func main() {
	write := flag.Bool("write", false, "write the tables into "+document)
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func run(write bool) error {
	tables, err := computed()
	if err != nil {
		return err
	}
	if !write {
		fmt.Print(tables)
		return nil
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	replaced, err := insert(string(text), tables)
	if err != nil {
		return err
	}
	return os.WriteFile(document, []byte(replaced), 0o644)
}

// computed is the tables of prices and counts as they are embedded.
func computed() (string, error) {
	m, err := read(pricesText, countsText)
	if err != nil {
		return "", err
	}
	text := m.tables()
	return text, m.err
}

// insert puts the tables between the marks of the document.
func insert(text, tables string) (string, error) {
	before, rest, ok := strings.Cut(text, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", errors.New(document + " has not the two marks that the tables go between")
	}
	return before + begin + tables + end + after, nil
}

// price is what one unit costs.
type price struct {
	USD    float64 `json:"usd"`
	Unit   string  `json:"unit"`
	Source string  `json:"source"`
	Read   string  `json:"read"` // the day
}

// model computes. err is the first name that was asked for and is not there.
type model struct {
	prices map[string]price
	counts map[string]map[string]float64
	used   map[string]bool
	err    error
}

func read(prices, counts []byte) (*model, error) {
	m := &model{used: map[string]bool{}}
	if err := json.Unmarshal(prices, &m.prices); err != nil {
		return nil, fmt.Errorf("prices.json: %w", err)
	}
	if err := json.Unmarshal(counts, &m.counts); err != nil {
		return nil, fmt.Errorf("counts.json: %w", err)
	}
	for name, p := range m.prices {
		if p.USD <= 0 || p.Unit == "" || p.Source == "" || p.Read == "" {
			return nil, fmt.Errorf("prices.json: %s needs usd, unit, source and read", name)
		}
	}
	return m, nil
}

// usd is the price of n units.
func (m *model) usd(name string, n float64) float64 {
	p, ok := m.prices[name]
	if !ok && m.err == nil {
		m.err = fmt.Errorf("prices.json has no %s", name)
	}
	m.used[name] = true
	return p.USD * n
}

// count is what a run counted; zero where it did not happen.
func (m *model) count(run string, names ...string) (sum float64) {
	counts, ok := m.counts[run]
	if !ok && m.err == nil {
		m.err = fmt.Errorf("counts.json has no run %q", run)
	}
	for _, name := range names {
		sum += counts[name]
	}
	return sum
}

// each is a count of a run divided by another of the same run: something per minute, or per job.
func (m *model) each(run, per string, names ...string) float64 {
	n := m.count(run, per)
	if n <= 0 && m.err == nil {
		m.err = fmt.Errorf("counts.json: run %q has no %s", run, per)
	}
	return m.count(run, names...) / n
}
