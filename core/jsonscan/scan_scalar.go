package jsonscan

import "unicode/utf8"

// literal reads one of true, false, null.
func (s *jsonScan) literal(word string) {
	for i := range len(word) {
		if s.pos == len(s.text) || s.text[s.pos] != word[i] {
			s.fail("not one of true, false, null")
			return
		}
		s.pos++
	}
}

// number reads -? int frac? exp?; the value may be of any size.
func (s *jsonScan) number() {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else {
		s.digits()
	}
	if s.peek() == '.' {
		s.pos++
		s.digits()
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		s.digits()
	}
}

// digits reads one digit or more.
func (s *jsonScan) digits() {
	if !isDigit(s.peek()) {
		s.fail("a digit must stand here")
		return
	}
	for isDigit(s.peek()) {
		s.pos++
	}
}

// peek returns the next byte, or 0 at the end, which is part of no token.
func (s *jsonScan) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// str reads a string; pos is at its opening quote.
func (s *jsonScan) str() {
	s.pos++
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return
		case c == '\\':
			s.escape()
		case c < ' ':
			s.fail("a control character in a string must be escaped")
		case c < utf8.RuneSelf:
			s.pos++
		default:
			s.rune()
		}
		if s.reason != "" {
			return
		}
	}
	s.fail("a string has no end")
}

// rune reads one character of several bytes.
func (s *jsonScan) rune() {
	r, size := utf8.DecodeRune(s.text[s.pos:])
	if r == utf8.RuneError && size == 1 {
		s.fail("not valid UTF-8")
		return
	}
	s.pos += size
}

// escape reads an escape sequence. A high surrogate and the low one after it are one character.
func (s *jsonScan) escape() {
	at := s.pos
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return
	case 'u':
	default:
		s.fail("no escape is written like this")
		return
	}
	switch r := s.hex(at); {
	case r == 0 && s.facts.Nul < 0:
		s.facts.Nul = at
	case 0xDC00 <= r && r <= 0xDFFF:
		s.lone(at)
	case 0xD800 <= r && r <= 0xDBFF:
		next := s.pos
		if s.peek() != '\\' || next+1 >= len(s.text) || s.text[next+1] != 'u' {
			s.lone(at)
			return
		}
		if low := s.hex(next); s.reason == "" && (low < 0xDC00 || low > 0xDFFF) {
			s.lone(at)
			s.pos = next // the second escape is read by itself
		}
	}
}

// lone records a surrogate that is not part of a pair.
func (s *jsonScan) lone(at int) {
	if s.facts.Lone < 0 {
		s.facts.Lone = at
	}
}

// hex reads the \uXXXX at position at, and leaves pos after it. It returns -1 if there is none.
func (s *jsonScan) hex(at int) int {
	r := 0
	for s.pos = at + 2; s.pos < at+6; s.pos++ {
		switch c := s.peek(); {
		case isDigit(c):
			r = r<<4 | int(c-'0')
		case 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
			r = r<<4 | int(c&^0x20-'A'+10)
		default:
			s.fail("\\u needs four hexadecimal digits")
			return -1
		}
	}
	return r
}
