package schedules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belfry-dev/belfry/core/jsonscan"
)

// fileFault is what is wrong at a place of a file.
type fileFault struct {
	line  int    // from 1
	field string // "" where it is the line's
	rule  string
}

// maxRepairs bounds how many unquoted values are passed over, so that what is behind them is looked at too.
const maxRepairs = 100

// parseYAML reads one document of YAML, or of JSON; nil is an empty one. After a fault it goes on where it can.
func parseYAML(text string) (root *yaml.Node, faults []fileFault) {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") {
		if _, err := jsonscan.Scan([]byte(text)); err == nil {
			return jsonNode(text), nil
		}
	}
	if at := strings.IndexFunc(text, isControl); at >= 0 {
		return nil, []fileFault{{lineAt(text, at), "", "holds a control character: write it as an escape, in double quotes"}}
	}
	for range maxRepairs {
		var document yaml.Node
		decoder := yaml.NewDecoder(strings.NewReader(text))
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF) || err == nil && len(document.Content) == 0:
			return nil, faults
		case err != nil:
			line := syntaxLine(text, err)
			quoted, fault, ok := quoteReserved(text, line)
			if !ok {
				return nil, append(faults, fileFault{line, "", syntaxRule(text, line, err)})
			}
			text, faults = quoted, append(faults, fault)
			continue
		}
		var more yaml.Node
		if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
			faults = append(faults, fileFault{max(more.Line, 1), "", "begins a second document: a file is one"})
		}
		return document.Content[0], faults
	}
	return nil, faults
}

// isControl reports whether YAML forbids a character.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff
}

func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

func lineOf(text string, number int) string {
	lines := strings.Split(text, "\n")
	if number < 1 || number > len(lines) {
		return ""
	}
	return lines[number-1]
}

// syntaxLine is the line at which the parser stopped: the last that it needs for saying the same. What it says itself is where
// the list or the quotation began, one less, or nothing.
func syntaxLine(text string, err error) int {
	lines := strings.SplitAfter(text, "\n")
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		var part yaml.Node
		stopped := yaml.Unmarshal([]byte(strings.Join(lines[:i+1], "")), &part)
		return stopped != nil && stopped.Error() == err.Error()
	})
}

// syntaxRule says in words for those who write YAML what the parser stopped at.
func syntaxRule(text string, line int, err error) string {
	says := err.Error()
	switch {
	case strings.HasPrefix(strings.TrimLeft(lineOf(text, line), " "), "\t"):
		return "is indented with a tab: YAML wants spaces"
	case strings.Contains(says, "unknown anchor"):
		return "begins a value with *, and no anchor has that name: write it in quotes"
	case strings.Contains(says, "mapping values are not allowed"):
		return `has one ": " too many, or is indented wrongly: write text that holds one in quotes`
	case strings.Contains(says, "cannot start any token"), strings.Contains(says, "alphabetic or numeric character"):
		return "begins a value with a character that YAML has a use for: write it in quotes"
	case strings.Contains(says, "unexpected end of stream"), strings.Contains(says, "expected ',' or"):
		return "opens a bracket or a quotation mark that is not closed, or lacks a comma"
	case strings.Contains(says, "escape"):
		return "has an escape that YAML does not know, in double quotes"
	}
	return "is not YAML: look at its indentation, quotation marks and colons"
}

var (
	reservedValue = regexp.MustCompile("^(.*?[\\s{,\\[]|)([A-Za-z_][A-Za-z0-9_]*)(\"?'?:[ \\t]+)([*@%`].*)$")
	aliasValue    = regexp.MustCompile(`^\*([A-Za-z0-9_-]+)[ \t]*($|[,}\]]|#)`)
	blockEnd      = regexp.MustCompile(`[ \t]+#.*$|[ \t]+$`)
	flowEnd       = regexp.MustCompile(`[ \t]*(,[ \t]*["']?[A-Za-z_][A-Za-z0-9_]*["']?[ \t]*:|[}\]]).*$`)
)

// quoteReserved puts a value that begins with a character of YAML's own into quotes, on the line at which the parser stopped.
func quoteReserved(text string, line int) (quoted string, fault fileFault, ok bool) {
	lines := strings.Split(text, "\n")
	m := reservedValue.FindStringSubmatch(strings.TrimSuffix(lines[line-1], "\r"))
	if m == nil || strings.HasPrefix(strings.TrimSpace(m[1]), "#") {
		return text, fault, false
	}
	if alias := aliasValue.FindStringSubmatch(m[4]); alias != nil && strings.Contains(text, "&"+alias[1]) {
		return text, fault, false
	}
	end := blockEnd.FindStringIndex(m[4])
	if strings.Count(m[1], "{")+strings.Count(m[1], "[") > strings.Count(m[1], "}")+strings.Count(m[1], "]") {
		end = flowEnd.FindStringIndex(m[4])
	}
	value, rest := m[4], ""
	if end != nil {
		value, rest = m[4][:end[0]], m[4][end[0]:]
	}
	lines[line-1] = m[1] + m[2] + m[3] + "'" + strings.ReplaceAll(value, "'", "''") + "'" + rest
	return strings.Join(lines, "\n"), fileFault{line, m[2], fmt.Sprintf("begins with %s, which YAML has a use for: write it in quotes", value[:1])}, true
}

// jsonNode is a document of JSON that was found well-formed, as nodes.
func jsonNode(text string) *yaml.Node {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	line, counted := 1, 0
	next := func() (json.Token, int) {
		token, err := decoder.Token()
		if err != nil {
			return nil, line // it was found well-formed
		}
		at := int(decoder.InputOffset())
		line += strings.Count(text[counted:at], "\n")
		counted = at
		return token, line
	}
	var value func() *yaml.Node
	value = func() *yaml.Node {
		token, line := next()
		node := &yaml.Node{Kind: yaml.ScalarNode, Line: line}
		switch t := token.(type) {
		case json.Delim:
			if node.Kind = yaml.SequenceNode; t == '{' {
				node.Kind = yaml.MappingNode
			}
			for decoder.More() {
				node.Content = append(node.Content, value())
			}
			next()
		case string:
			node.Style, node.Value = yaml.DoubleQuotedStyle, t
		case json.Number:
			node.Value = t.String()
		case bool:
			node.Value = strconv.FormatBool(t)
		default:
			node.Value = "null"
		}
		return node
	}
	return value()
}

// jsonText is a text as JSON writes it.
func jsonText(text string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // strings always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
