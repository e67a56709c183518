package schedules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belfry-dev/belfry/core"
)

// maxYAMLBytes and maxMerges bound the growth of a file by its anchors.
const (
	maxYAMLBytes = 64 << 20
	maxMerges    = 10_000
)

// yamlJSON writes YAML nodes as JSON, digit for digit, and notes values that JSON does not have: YAML's rules for them
// differ between versions, so that a payload could change silently.
type yamlJSON struct {
	lines  map[string]int // of the fields that were written, by path
	faults []fileFault
	bytes  int // written so far
	merges int
	full   bool // a bound was reached: the rest is left out
}

// write appends a node, or null if it has a fault.
func (y *yamlJSON) write(b []byte, n *yaml.Node, path string, depth int) []byte {
	if y.bytes += 8 + len(n.Value); y.bytes > maxYAMLBytes && !y.full {
		y.full = true
		y.fault(n, path, "is too large once its anchors are written out")
	}
	switch {
	case y.full:
		b = append(b, "null"...)
	case depth > core.MaxPayloadDepth+10:
		y.full = true // an anchor within itself may be met in very many ways
		y.fault(n, path, fmt.Sprintf("is nested more than %d deep", core.MaxPayloadDepth))
		b = append(b, "null"...)
	case n.Kind == yaml.AliasNode:
		return y.write(b, n.Alias, path, depth+1)
	case n.Style&yaml.TaggedStyle != 0:
		y.fault(n, path, "has a tag ("+core.CleanText(n.Tag, 40)+"), which JSON does not have: leave the tag out, and write it in quotes where it is text")
		b = append(b, "null"...)
	case n.Kind == yaml.MappingNode:
		b = y.object(b, n, path, depth)
	case n.Kind == yaml.SequenceNode:
		b = append(b, '[')
		for i, element := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			field := fmt.Sprintf("%s[%d]", path, i)
			y.lines[field] = element.Line
			b = y.write(b, element, field, depth+1)
		}
		b = append(b, ']')
	default:
		b = y.scalar(b, n, path)
	}
	return b
}

// scalar appends a scalar.
func (y *yamlJSON) scalar(b []byte, n *yaml.Node, path string) []byte {
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return append(b, jsonText(n.Value)...)
	}
	if literalOfJSON.MatchString(n.Value) {
		return append(b, n.Value...)
	}
	if rule := plainRule(n); rule != "" {
		y.fault(n, path, rule)
		return append(b, "null"...)
	}
	return append(b, jsonText(n.Value)...)
}

var (
	literalOfJSON = regexp.MustCompile(`^(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)$`)
	yamlWord      = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|y|n|null|~|=|<<)$`)
	yamlNumber    = regexp.MustCompile(`^[-+]?(0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|` +
		`(\.[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|\.(?i:inf|nan))$`)
	yamlTime = regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]*)?)?([ \t]*([Zz]|[-+][0-9]{1,2}(:?[0-9]{2})?))?)?$`)
)

// plainRule returns why an unquoted scalar that is no JSON literal is not plain text either; "" if every reader takes it for
// text.
func plainRule(n *yaml.Node) string {
	switch {
	case n.Value == "":
		return "has no value: give it one, or leave it out"
	case yamlTime.MatchString(n.Value), n.ShortTag() == "!!timestamp":
		return "looks like a time, which JSON does not have: write it in quotes"
	case yamlNumber.MatchString(n.Value), n.ShortTag() == "!!int", n.ShortTag() == "!!float":
		return "looks like a number, but not as JSON writes them: write it in quotes, or as JSON does"
	case yamlWord.MatchString(n.Value), n.ShortTag() != "!!str":
		return "looks like true, false or null, but not as JSON writes them: write it in quotes, or as JSON does"
	}
	return ""
}

// member is a member of a mapping.
type member struct {
	name       string
	key, value *yaml.Node
}

// object appends a mapping.
func (y *yamlJSON) object(b []byte, n *yaml.Node, path string, depth int) []byte {
	b = append(b, '{')
	for i, m := range y.members(n, path, depth) {
		if i > 0 {
			b = append(b, ',')
		}
		field := strings.TrimPrefix(path+"."+m.name, ".")
		y.lines[field] = m.key.Line
		b = append(append(b, jsonText(m.name)...), ':')
		b = y.write(b, m.value, field, depth+1)
	}
	return append(b, '}')
}

// members returns the members of a mapping in their order, merged ones (<<) last.
func (y *yamlJSON) members(n *yaml.Node, path string, depth int) (list []member) {
	given, merged := map[string]bool{}, []*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := resolved(n.Content[i]), n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.Style == 0 && key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		name, rule := keyOf(key)
		switch {
		case rule != "":
			y.fault(n.Content[i], strings.TrimPrefix(path+"."+core.CleanText(key.Value, 40), "."), rule)
		case given[name]:
			y.fault(n.Content[i], strings.TrimPrefix(path+"."+name, "."), "is given twice")
		default:
			given[name] = true
			list = append(list, member{name, n.Content[i], value})
		}
	}
	for _, value := range merged {
		for _, m := range y.merge(value, path, depth) {
			if !given[m.name] {
				given[m.name] = true
				list = append(list, m)
			}
		}
	}
	return list
}

// merge returns the members that a mapping merges from one or several others; the first has precedence.
func (y *yamlJSON) merge(value *yaml.Node, path string, depth int) (list []member) {
	from := resolved(value)
	if y.merges++; y.merges > maxMerges && !y.full {
		y.full = true
		y.fault(value, path, "merges too much")
	}
	switch {
	case y.full:
	case depth > core.MaxPayloadDepth:
		y.full = true
		y.fault(value, path, "merges itself")
	case from.Kind == yaml.MappingNode:
		return y.members(from, path, depth+1)
	case from.Kind == yaml.SequenceNode:
		for _, part := range from.Content {
			list = append(list, y.merge(part, path, depth+1)...)
		}
	default:
		y.fault(value, path, "<< wants a mapping to merge")
	}
	return list
}

// keyOf returns the name of a key, or why it is not a name.
func keyOf(key *yaml.Node) (name, rule string) {
	plain := key.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if key.Kind != yaml.ScalarNode || key.Style&yaml.TaggedStyle != 0 || plain && key.ShortTag() != "!!str" {
		return "", "is a name, which is text: write it in quotes"
	}
	return key.Value, ""
}

func resolved(n *yaml.Node) *yaml.Node {
	for range core.MaxPayloadDepth {
		if n.Kind != yaml.AliasNode {
			break
		}
		n = n.Alias
	}
	return n
}

// fault notes a fault once per place: an anchor's node may be written many times.
func (y *yamlJSON) fault(n *yaml.Node, path, rule string) {
	if f := (fileFault{n.Line, path, rule}); !slices.Contains(y.faults, f) && len(y.faults) < maxFileFaults {
		y.faults = append(y.faults, f)
	}
}
