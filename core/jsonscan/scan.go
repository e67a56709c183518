package jsonscan

import "fmt"

// MaxDepth is the deepest nesting that Scan follows; deeper texts are an error. Payloads may nest far less: MaxPayloadDepth.
const MaxDepth = 10_000

// Error says at which byte a text stops being JSON.
type Error struct {
	Offset int    // bytes before the fault
	Reason string // what was found there or expected
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Reason) }

// Facts are the properties of a well-formed text.
type Facts struct {
	Depth int // deepest nesting of arrays and objects; 0 for a scalar
	Nul   int // offset of the first \u0000 in a string, or -1
	Lone  int // offset of the first surrogate escape that is not one of a pair, or -1
}

// Scan reads text once, without allocating. It accepts exactly one value of RFC 8259 in UTF-8, with optional white space
// around it: the texts that both encoding/json.Valid and utf8.Valid accept. The error is a *Error.
//
// \u0000 and lone surrogates are valid JSON, but a store cannot keep the first and a reader cannot decode the second. Scan
// reports them as facts, so that the caller can name the field that holds them.
func Scan(text []byte) (Facts, error) {
	s := jsonScan{text: text, facts: Facts{Nul: -1, Lone: -1}}
	if s.run(); s.reason != "" {
		if fault := EncodingOf(text); fault != "" {
			return Facts{}, &Error{0, "the text " + fault}
		}
		return Facts{}, &Error{s.pos, s.reason}
	}
	return s.facts, nil
}

// jsonScan is the state of one Scan: a pushdown automaton whose stack is a set of bits.
type jsonScan struct {
	text   []byte
	pos    int
	reason string // the fault; "" while there is none
	facts  Facts
	depth  int
	object [MaxDepth/64 + 1]uint64 // bit d set: level d is an object
}

// The states of a scan: what may come next in the text.
const (
	jsonValue = iota // a value
	jsonFirst        // a value or the array's end
	jsonKey          // a member's name
	jsonMaybe        // a member's name or the object's end
	jsonAfter        // what follows a value: a comma, a closing bracket, the end
)

func (s *jsonScan) run() {
	state := jsonValue
	for s.reason == "" {
		s.space()
		if s.pos == len(s.text) {
			if state != jsonAfter || s.depth > 0 {
				s.fail("the text ends too early")
			}
			return
		}
		c := s.text[s.pos]
		switch {
		case state == jsonFirst && c == ']', state == jsonMaybe && c == '}':
			state = s.close()
		case state == jsonKey || state == jsonMaybe:
			state = s.key(c)
		case state == jsonAfter:
			state = s.after(c)
		default:
			state = s.value(c)
		}
	}
}

// value reads a scalar or opens an array or object.
func (s *jsonScan) value(c byte) (state int) {
	switch {
	case c == '{' || c == '[':
		return s.open(c == '{')
	case c == '"':
		s.str()
	case c == '-' || isDigit(c):
		s.number()
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	default:
		s.expect("a value")
	}
	return jsonAfter
}

func (s *jsonScan) open(object bool) (state int) {
	if s.depth == MaxDepth {
		s.fail("nested too deep")
		return jsonAfter
	}
	s.pos++
	s.depth++
	s.facts.Depth = max(s.facts.Depth, s.depth)
	word, bit := &s.object[s.depth/64], uint64(1)<<(s.depth%64)
	if object {
		*word |= bit
		return jsonMaybe
	}
	*word &^= bit
	return jsonFirst
}

func (s *jsonScan) close() (state int) {
	s.pos++
	s.depth--
	return jsonAfter
}

func (s *jsonScan) inObject() bool { return s.object[s.depth/64]>>(s.depth%64)&1 == 1 }

// after reads what follows a value inside an array or object. At depth 0 only white space may follow.
func (s *jsonScan) after(c byte) (state int) {
	switch {
	case s.depth == 0:
		if s.fail("something follows the value"); oddAt(s.text[s.pos:]) != "" {
			s.reason += ": " + oddAt(s.text[s.pos:])
		}
	case c == ',' && s.inObject():
		s.pos++
		return jsonKey
	case c == ',':
		s.pos++
		return jsonValue
	case c == '}' && s.inObject(), c == ']' && !s.inObject():
		return s.close()
	default:
		s.expect("a comma or the closing bracket")
	}
	return jsonAfter
}

func (s *jsonScan) key(c byte) (state int) {
	if c != '"' {
		s.expect("a member's name in double quotes")
		return jsonAfter
	}
	if s.str(); s.reason != "" {
		return jsonAfter
	}
	s.space()
	if s.peek() != ':' {
		s.fail("a colon must stand here")
		return jsonAfter
	}
	s.pos++
	return jsonValue
}

func (s *jsonScan) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// expect fails because what is missing. If the next character is hard to see, the text names it.
func (s *jsonScan) expect(what string) {
	if s.fail(what + " must stand here"); oddAt(s.text[s.pos:]) != "" {
		s.reason += ", not " + oddAt(s.text[s.pos:])
	}
}

// fail records the first fault; run then stops.
func (s *jsonScan) fail(reason string) {
	if s.reason == "" {
		s.reason = reason
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
